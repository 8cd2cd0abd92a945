-- Refunded purchases by month of purchase.
SELECT to_char(month, 'YYYY-MM') AS month, :refund_sums
  FROM refund_rate_by_month v WHERE app_id = :app GROUP BY v.month ORDER BY v.month DESC
