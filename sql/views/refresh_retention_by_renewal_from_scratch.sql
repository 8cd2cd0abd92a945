-- What does retention_by_renewal show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of retention_by_renewal.
CREATE OR REPLACE VIEW refresh_retention_by_renewal_from_scratch AS
SELECT
    app_id, product_id, period, payment_number,
    count(*) AS subscriptions,
    count(*) FILTER (WHERE is_renewed OR ends_at <= now()) AS due,
    count(*) FILTER (WHERE is_renewed) AS renewed,
    round(count(*) FILTER (WHERE is_renewed)::numeric / nullif(count(*) FILTER (WHERE is_renewed OR ends_at <= now()), 0), 4)
        AS retention_rate
FROM subscription_periods_at_refresh
WHERE is_paid
GROUP BY app_id, product_id, period, payment_number;
