-- What does retention_by_renewal show when it is computed from every record?
SELECT
    app_id, product_id, period, payment_number,
    count(*) AS subscriptions,
    count(*) FILTER (WHERE is_renewed OR ends_at <= now()) AS due,
    count(*) FILTER (WHERE is_renewed) AS renewed,
    round(count(*) FILTER (WHERE is_renewed)::numeric / nullif(count(*) FILTER (WHERE is_renewed OR ends_at <= now()), 0), 4)
        AS retention_rate
FROM subscription_periods
WHERE is_paid
GROUP BY app_id, product_id, period, payment_number
