-- title: Notifications that have not arrived
-- section: operations
-- means: Notifications of the last 30 days that the app's own server has not taken, by type, state and failure.
-- docs: ../guides/receive-notifications.md
-- nothing: Every notification of the last 30 days has arrived.
-- views: undelivered_notifications
-- flags: plain
-- column: type | text | Notification
-- column: state | text | State
-- column: failure | text | Last failure
-- column: notifications | count | Notifications
-- column: oldest | moment | Oldest, UTC
SELECT notification_type AS type, state, last_failure AS failure, count(*) AS notifications,
       to_char(min(signed_date), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS oldest
  FROM undelivered_notifications
 WHERE app_id = :app AND signed_date >= ((now() - interval '30 days')::date + 1)::timestamptz
 GROUP BY notification_type, state, last_failure ORDER BY count(*) DESC, notification_type, state, last_failure
