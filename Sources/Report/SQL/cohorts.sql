-- The subscriptions of a month that are still there in each later month.
SELECT to_char(cohort_month, 'YYYY-MM') AS cohort, month_number, sum(subscriptions) AS subscriptions,
       sum(retained) AS retained, round(sum(retained) / sum(subscriptions), 4) AS rate
  FROM retention_cohorts WHERE app_id = :app AND cohort_month >= :since_month
 GROUP BY cohort_month, month_number ORDER BY cohort_month DESC, month_number
