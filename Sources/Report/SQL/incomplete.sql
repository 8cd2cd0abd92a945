-- title: Days that are not proven
-- section: operations
-- means: Days and types with a notification that is missing or not in Apple's history.
-- docs: ../guides/reconcile-notifications.md
-- nothing: No day has one.
-- views: notification_completeness_by_day
-- flags: plain
-- column: day | day | Day
-- column: type | text | Notification
-- column: missing | count | Answered but missing
-- column: again | count | To be read again
-- column: unexplained | count | Unexplained
-- column: unprovable | count | Unprovable
SELECT v.day::text AS day, notification_type AS type, answered_but_missing AS missing, to_be_read_again AS again,
       unexplained, unprovable
  FROM notification_completeness_by_day v WHERE app_id = :app AND NOT is_proven
 ORDER BY v.day DESC, notification_type LIMIT 100
