-- How much monthly recurring revenue does each product bring, and from how many subscriptions?
--
-- The definition is RevenueCat's: MRR is the sum of the prices of active subscriptions, normalized to a month, before fees
-- and taxes, at the end of the month.
CREATE MATERIALIZED VIEW IF NOT EXISTS mrr_by_month AS
SELECT
    app_id, month, product_id, period, storefront, currency,
    count(*) AS active_subscriptions,
    count(*) FILTER (WHERE mrr_milliunits IS NULL) AS without_mrr,
    coalesce(sum(mrr_milliunits), 0)::bigint AS mrr_milliunits,
    coalesce(sum(mrr_milliunits), 0) * 0.001 AS mrr_amount
FROM subscription_months_at_refresh
GROUP BY app_id, month, product_id, period, storefront, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS mrr_by_month_key
    ON mrr_by_month (app_id, month, product_id, period, storefront, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW mrr_by_month IS
    'Active paid subscriptions and their monthly recurring revenue at the end of each month, by product, storefront and currency. Amounts are before Apple''s commission and tax, which Apple''s data do not contain. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN mrr_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_by_month.period IS 'The nominal period, as an ISO 8601 duration such as P1M. NULL if it is unknown.';
COMMENT ON COLUMN mrr_by_month.active_subscriptions IS 'Paid subscriptions active at the end of the month.';
COMMENT ON COLUMN mrr_by_month.without_mrr IS 'Those of active_subscriptions without a known price or period. They add nothing to mrr_milliunits.';
COMMENT ON COLUMN mrr_by_month.mrr_milliunits IS 'Monthly recurring revenue, in thousandths of a unit of currency.';
