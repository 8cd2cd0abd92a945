-- Notifications by day of Apple's signature, and how they were delivered.
SELECT v.day::text AS day, sum(delivered_at_once) AS at_once, sum(delivered - delivered_at_once) AS later,
       sum(retrying) AS retrying, sum(not_known_yet) AS not_known_yet, sum(never_received) AS never, sum(unknown) AS unknown,
       sum(notifications) AS notifications
  FROM notification_health_by_day v WHERE app_id = :app AND v.day >= :since_day
 GROUP BY v.day ORDER BY v.day DESC
