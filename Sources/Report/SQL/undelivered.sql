-- Notifications of the last 30 days that have not arrived, by type, state and failure.
SELECT notification_type AS type, state, last_failure AS failure, count(*) AS notifications,
       to_char(min(signed_date), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS oldest
  FROM undelivered_notifications
 WHERE app_id = :app AND signed_date >= ((now() - interval '30 days')::date + 1)::timestamptz
 GROUP BY notification_type, state, last_failure ORDER BY count(*) DESC, notification_type, state, last_failure
