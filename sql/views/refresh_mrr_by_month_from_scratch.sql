-- What does mrr_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of mrr_by_month.
CREATE OR REPLACE VIEW refresh_mrr_by_month_from_scratch AS
SELECT
    app_id, month, product_id, period, storefront, currency,
    count(*) AS active_subscriptions,
    count(*) FILTER (WHERE mrr_milliunits IS NULL) AS without_mrr,
    coalesce(sum(mrr_milliunits), 0)::bigint AS mrr_milliunits,
    coalesce(sum(mrr_milliunits), 0) * 0.001 AS mrr_amount
FROM subscription_months_at_refresh
GROUP BY app_id, month, product_id, period, storefront, currency;
