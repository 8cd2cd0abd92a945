-- Renewal by number of the payment.
SELECT payment_number::text AS payment, sum(subscriptions) AS subscriptions, sum(due) AS due, sum(renewed) AS renewed,
       round(sum(renewed) / nullif(sum(due), 0), 4) AS rate
  FROM retention_by_renewal v WHERE app_id = :app GROUP BY v.payment_number ORDER BY v.payment_number
