-- What do the subscriptions that changed add to refresh_cohort_totals?
--
-- The cohort is the same as in retention_cohorts. Months before the cohort's count as its first month.
CREATE OR REPLACE VIEW refresh_cohort_changes AS
WITH first AS (
    SELECT DISTINCT ON (sign, app_id, original_transaction_id)
           sign, app_id, original_transaction_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS cohort_month, product_id, period
      FROM refresh_changed_subscription_periods
     WHERE is_paid AND offer_type IS DISTINCT FROM 1
     ORDER BY sign, app_id, original_transaction_id, period_number
)
SELECT
    app_id, cohort_month, product_id, period, month,
    sum(subscriptions) AS subscriptions, sum(retained) AS retained
FROM (
    SELECT app_id, cohort_month, product_id, period, cohort_month AS month, sign AS subscriptions, 0 AS retained FROM first
    UNION ALL
    SELECT f.app_id, f.cohort_month, f.product_id, f.period, greatest(e.month, f.cohort_month), 0, f.sign * e.step
      FROM first f
      JOIN refresh_changed_month_spans s ON s.sign = f.sign AND s.app_id = f.app_id AND s.original_transaction_id = f.original_transaction_id
      CROSS JOIN LATERAL (VALUES (s.from_month, 1), (s.until_month, -1)) e (month, step)
     WHERE e.month IS NOT NULL
) counted
GROUP BY app_id, cohort_month, product_id, period, month;
