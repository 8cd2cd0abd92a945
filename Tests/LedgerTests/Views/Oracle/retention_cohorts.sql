-- What does retention_cohorts show when it is computed from every record?
WITH first AS (
    SELECT DISTINCT ON (app_id, original_transaction_id)
           app_id, original_transaction_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS cohort_month,
           product_id, period
      FROM subscription_periods
     WHERE is_paid AND offer_type IS DISTINCT FROM 1
     ORDER BY app_id, original_transaction_id, period_number
), size AS (
    SELECT app_id, cohort_month, product_id, period, count(*) AS subscriptions FROM first
     GROUP BY app_id, cohort_month, product_id, period
), kept AS (
    SELECT f.app_id, f.cohort_month, f.product_id, f.period, m.month, count(*) AS retained
      FROM first f JOIN subscription_months m USING (app_id, original_transaction_id)
     WHERE m.month >= f.cohort_month
     GROUP BY f.app_id, f.cohort_month, f.product_id, f.period, m.month
), cell AS (
    -- Zeros for every month of every cohort and the actual counts are added up. A join instead would compare every
    -- row with every row, because product_id and period can be NULL.
    SELECT s.app_id, s.cohort_month, s.product_id, s.period, n AS month_number, s.subscriptions, 0 AS retained
      FROM size s
      CROSS JOIN LATERAL generate_series(0,
          (date_part('year', age(date_trunc('month', now() AT TIME ZONE 'UTC'), s.cohort_month)) * 12
           + date_part('month', age(date_trunc('month', now() AT TIME ZONE 'UTC'), s.cohort_month)))::integer - 1) n
    UNION ALL
    SELECT k.app_id, k.cohort_month, k.product_id, k.period,
           (date_part('year', age(k.month::timestamp, k.cohort_month::timestamp)) * 12
            + date_part('month', age(k.month::timestamp, k.cohort_month::timestamp)))::integer,
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
