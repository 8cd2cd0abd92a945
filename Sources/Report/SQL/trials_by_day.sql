-- Free trials by day of their beginning, and what became of them.
SELECT v.day::text AS day, sum(converted) AS converted, sum(running) AS running, sum(will_not_renew) AS will_not_renew,
       sum(lost) AS lost, sum(started) AS started
  FROM trials_by_day v WHERE app_id = :app AND v.day >= :since_day GROUP BY v.day ORDER BY v.day DESC
