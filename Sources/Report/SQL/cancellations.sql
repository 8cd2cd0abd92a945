-- Renewal switched off and on by day.
SELECT v.day::text AS day, sum(cancelled - cancelled_trials) AS cancelled, sum(cancelled_trials) AS cancelled_trials,
       sum(cancelled) AS all_cancelled, sum(resumed) AS resumed
  FROM cancellations_by_day v WHERE app_id = :app AND v.day >= :since_day GROUP BY v.day ORDER BY v.day DESC
