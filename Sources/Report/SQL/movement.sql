-- Movement of paid subscriptions by day.
SELECT v.day::text AS day, sum(new) AS new, sum(resubscribed) AS resubscribed, sum(expired) AS expired,
       sum(churned) AS churned
  FROM subscription_movement_by_day v WHERE app_id = :app AND v.day >= :since_day
 GROUP BY v.day HAVING sum(new) <> 0 OR sum(resubscribed) <> 0 OR sum(expired) <> 0 ORDER BY v.day DESC
