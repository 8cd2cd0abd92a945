-- How much monthly recurring revenue does each product bring, and from how many subscriptions?
--
-- The definition is RevenueCat's: MRR is the sum of the prices of active subscriptions, normalized to a month, before fees
-- and taxes, at the end of the month.
--
-- One row for each app_id, month, product_id, period, storefront, currency.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_mrr_changes AS
SELECT
    s.app_id, s.month, s.product_id, s.period, s.storefront, s.currency,
    sum(s.step) AS subscriptions,
    sum(s.step) FILTER (WHERE s.mrr_milliunits IS NULL) AS without_mrr,
    sum(s.step * s.mrr_milliunits) AS mrr_milliunits
FROM (
    SELECT app_id, from_month AS month, product_id, period, storefront, currency, mrr_milliunits, sign AS step FROM refresh_month_steps
     WHERE NOT is_beside
    UNION ALL
    SELECT app_id, until_month, product_id, period, storefront, currency, mrr_milliunits, -sign FROM refresh_month_steps
     WHERE NOT is_beside AND until_month IS NOT NULL
) s
GROUP BY s.app_id, s.month, s.product_id, s.period, s.storefront, s.currency;

CREATE OR REPLACE VIEW mrr_by_month AS
WITH monthly AS (
    SELECT app_id, month, product_id, period, storefront, currency,
           sum(sum(subscriptions)) OVER so_far AS subscriptions, sum(sum(without_mrr)) OVER so_far AS without_mrr,
           sum(sum(mrr_milliunits)) OVER so_far AS mrr_milliunits
      FROM (SELECT app_id, month, product_id, period, storefront, currency, subscriptions, without_mrr, mrr_milliunits FROM refresh_mrr_totals
            UNION ALL
            -- A month without changes gets a row of zeros; see active_subscriptions_by_day.
            SELECT f.app_id, m::date, f.product_id, f.period, f.storefront, f.currency, 0, 0, 0
              FROM (SELECT app_id, product_id, period, storefront, currency, min(month) AS first_month
                      FROM refresh_mrr_totals GROUP BY app_id, product_id, period, storefront, currency) f
              CROSS JOIN refresh_state state
              CROSS JOIN LATERAL generate_series(f.first_month::timestamp, (state.as_of - interval '1 microsecond') AT TIME ZONE 'UTC',
                                                 interval '1 month') m) every_month
     GROUP BY app_id, month, product_id, period, storefront, currency
    WINDOW so_far AS (PARTITION BY app_id, product_id, period, storefront, currency ORDER BY month)
)
SELECT
    app_id, month, product_id, period, storefront, currency,
    subscriptions::bigint AS active_subscriptions,
    without_mrr::bigint AS without_mrr,
    mrr_milliunits::bigint AS mrr_milliunits,
    mrr_milliunits * 0.001 AS mrr_amount
FROM monthly
WHERE subscriptions > 0;
COMMENT ON VIEW mrr_by_month IS
    'Active paid subscriptions and their monthly recurring revenue at the end of each month, by product, storefront and currency. Amounts are before Apple''s commission and tax, which Apple''s data do not contain. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN mrr_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_by_month.period IS 'The nominal period, as an ISO 8601 duration such as P1M. NULL if it is unknown.';
COMMENT ON COLUMN mrr_by_month.active_subscriptions IS 'Paid subscriptions active at the end of the month.';
COMMENT ON COLUMN mrr_by_month.without_mrr IS 'Active paid subscriptions without a known price or period. They add nothing to mrr_milliunits.';
COMMENT ON COLUMN mrr_by_month.mrr_milliunits IS 
    'Monthly recurring revenue, in thousandths of a unit of currency: the sum of the prices of active_subscriptions, each brought to a month by RevenueCat''s factors (a day times 30, a week times 4, a year divided by 12) and rounded to a thousandth.';
