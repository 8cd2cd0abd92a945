-- Paid subscriptions, their movement and churn by month.
SELECT to_char(month, 'YYYY-MM') AS month, :movement_sums
  FROM subscription_movement_by_month v WHERE app_id = :app GROUP BY v.month ORDER BY v.month DESC
