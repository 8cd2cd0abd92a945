-- How many of the subscriptions first paid in a month are still active k months later?
--
-- A subscription's cohort is the month and product of its first paid period without an introductory offer, as in
-- RevenueCat. RevenueCat counts renewals; this view counts calendar months. A subscription is retained in month k if it is
-- active at the end of the k-th month after the first. Only completed months are shown, so every subscription of a cohort
-- had that opportunity.
CREATE MATERIALIZED VIEW IF NOT EXISTS retention_cohorts AS
WITH first AS (
    SELECT DISTINCT ON (app_id, original_transaction_id)
           app_id, original_transaction_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS cohort_month,
           product_id, period
      FROM subscription_periods_at_refresh
     WHERE is_paid AND offer_type IS DISTINCT FROM 1
     ORDER BY app_id, original_transaction_id, period_number
), size AS (
    SELECT app_id, cohort_month, product_id, period, count(*) AS subscriptions FROM first
     GROUP BY app_id, cohort_month, product_id, period
), kept AS (
    SELECT f.app_id, f.cohort_month, f.product_id, f.period, m.month, count(*) AS retained
      FROM first f JOIN subscription_months_at_refresh m USING (app_id, original_transaction_id)
     WHERE m.month >= f.cohort_month
     GROUP BY f.app_id, f.cohort_month, f.product_id, f.period, m.month
), cell AS (
    -- Zeros for every month of every cohort and the actual counts are added up. A join instead would compare every row with
    -- every row, because product_id and period can be NULL.
    SELECT s.app_id, s.cohort_month, s.product_id, s.period, n AS month_number, s.subscriptions, 0 AS retained
      FROM size s
      CROSS JOIN LATERAL generate_series(0,
          (date_part('year', age(date_trunc('month', now() AT TIME ZONE 'UTC'), s.cohort_month)) * 12
           + date_part('month', age(date_trunc('month', now() AT TIME ZONE 'UTC'), s.cohort_month)))::integer - 1) n
    UNION ALL
    SELECT k.app_id, k.cohort_month, k.product_id, k.period,
           (date_part('year', age(k.month, k.cohort_month)) * 12 + date_part('month', age(k.month, k.cohort_month)))::integer,
           NULL, k.retained
      FROM kept k
)
SELECT
    app_id, cohort_month, product_id, period, month_number,
    max(subscriptions) AS subscriptions, sum(retained)::bigint AS retained,
    round(sum(retained) / max(subscriptions), 4) AS retention_rate
FROM cell
GROUP BY app_id, cohort_month, product_id, period, month_number
HAVING max(subscriptions) IS NOT NULL
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS retention_cohorts_key
    ON retention_cohorts (app_id, cohort_month, product_id, period, month_number) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW retention_cohorts IS
    'Subscriptions first paid in a month, and how many were active at the end of each later month. One row per completed month. A subscription that lapsed and came back counts again.';
COMMENT ON COLUMN retention_cohorts.cohort_month IS 'The month of the first paid period without an introductory offer; its first day, in UTC.';
COMMENT ON COLUMN retention_cohorts.product_id IS 'The product of that first period.';
COMMENT ON COLUMN retention_cohorts.period IS 'The nominal period of that product, as an ISO 8601 duration. NULL if it is unknown.';
COMMENT ON COLUMN retention_cohorts.month_number IS 'Months after the cohort''s month; 0 is the end of the cohort''s month.';
COMMENT ON COLUMN retention_cohorts.subscriptions IS 'Subscriptions in the cohort.';
COMMENT ON COLUMN retention_cohorts.retained IS 'Those of subscriptions that were active at the end of that month, for any product of the group.';
COMMENT ON COLUMN retention_cohorts.retention_rate IS 'retained divided by subscriptions, 0 to 1. To combine cohorts, divide the sums.';
