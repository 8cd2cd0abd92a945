-- Renewal by product and number of the payment.
SELECT product_id, payment_number::text AS payment, sum(due) AS due, sum(renewed) AS renewed,
       round(sum(renewed) / nullif(sum(due), 0), 4) AS rate
  FROM retention_by_renewal v WHERE app_id = :app
 GROUP BY product_id, v.payment_number ORDER BY product_id, v.payment_number
