-- How many of those who first paid in a month are still subscribed k months later?
--
-- A subscription's cohort is the month and the product of its first paid period without an introductory offer, as in
-- RevenueCat, which counts renewals where this counts calendar months: retained in month k is who is active at the end of
-- the k-th month after the first. All of a cohort had that opportunity, because only months that are over are shown.
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
    -- Every month of every cohort, and who is there in it, added up: a join by a product and a period that may be NULL
    -- would try each with each.
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
    'Of the subscriptions first paid for in a month, how many were active at the end of each later month; one row for each month that is over. Somebody who left and came back counts again.';
COMMENT ON COLUMN retention_cohorts.cohort_month IS 'The month of the first paid period without an introductory offer; its first day, in UTC.';
COMMENT ON COLUMN retention_cohorts.product_id IS 'The product of that first period.';
COMMENT ON COLUMN retention_cohorts.period IS 'The period of that product, ISO 8601; NULL when unknown.';
COMMENT ON COLUMN retention_cohorts.month_number IS 'Months after the cohort''s month; 0 is the end of that month itself.';
COMMENT ON COLUMN retention_cohorts.subscriptions IS 'Subscriptions in the cohort.';
COMMENT ON COLUMN retention_cohorts.retained IS 'How many of them were active at the end of that month, to whichever product of the group.';
COMMENT ON COLUMN retention_cohorts.retention_rate IS 'retained over subscriptions, 0 to 1. For several cohorts divide the sums.';
