-- Days and types with a notification that is missing or not in the history.
SELECT v.day::text AS day, notification_type AS type, answered_but_missing AS missing, to_be_read_again AS again,
       unexplained, unprovable
  FROM notification_completeness_by_day v WHERE app_id = :app AND NOT is_proven
 ORDER BY v.day DESC, notification_type LIMIT 100
