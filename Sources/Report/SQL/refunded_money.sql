-- The money that was refunded, by product and currency of the purchases.
SELECT product_id, currency, sum(gross_milliunits) AS gross, sum(refunded_milliunits) AS refunded
  FROM refund_rate_by_month WHERE app_id = :app AND month >= :since_month
 GROUP BY product_id, currency HAVING sum(refunded) > 0 ORDER BY product_id, currency
