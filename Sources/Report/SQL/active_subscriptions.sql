-- Active subscriptions by day.
SELECT v.day::text AS day, sum(active) AS active, sum(trials) AS trials
  FROM active_subscriptions_by_day v WHERE app_id = :app AND v.day >= :since_day
 GROUP BY v.day ORDER BY v.day DESC
