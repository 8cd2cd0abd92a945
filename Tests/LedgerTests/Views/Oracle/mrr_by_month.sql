-- What does mrr_by_month show when it is computed from every record?
SELECT
    app_id, month, product_id, period, storefront, currency,
    count(*) AS active_subscriptions,
    count(*) FILTER (WHERE mrr_milliunits IS NULL) AS without_mrr,
    coalesce(sum(mrr_milliunits), 0)::bigint AS mrr_milliunits,
    coalesce(sum(mrr_milliunits), 0) * 0.001 AS mrr_amount
FROM subscription_months
GROUP BY app_id, month, product_id, period, storefront, currency
