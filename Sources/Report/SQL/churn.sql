-- Lost subscriptions by month and reason.
SELECT to_char(month, 'YYYY-MM') AS month, sum(churned_voluntary) AS voluntary, sum(churned_billing) AS billing,
       sum(churned_price) AS price, sum(churned_refund) AS refund, sum(churned_other) AS other,
       sum(churned_unknown) AS unknown, sum(churned) AS churned, sum(active_at_start) AS active
  FROM renewals_and_churn_by_month v WHERE app_id = :app
 GROUP BY v.month ORDER BY v.month DESC
