-- Refunded purchases of the last 24 months, by the column that :segment stands for.
SELECT :segment, :refund_sums FROM refund_rate_by_month WHERE app_id = :app AND month >= :since_month
 GROUP BY :segment ORDER BY sum(refunded) DESC, sum(purchases) DESC, :segment
