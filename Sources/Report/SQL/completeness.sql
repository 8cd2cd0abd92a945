-- title: Received notifications
-- section: operations
-- means: What the receiver stored in the last month, compared with Apple's notification history: the proof that no notification was missed.
-- docs: ../guides/reconcile-notifications.md
-- nothing: storeledger reconcile has compared no day.
-- views: notification_completeness_by_day
-- flags: plain wide
-- column: day | day | Day
-- column: in_history | count | In Apple's history
-- column: received | count | Received
-- column: both | count of in_history | Received and in the history
-- column: recovered | count of in_history | Recovered by the crawl
-- column: missing | count of in_history | Answered but missing
-- column: unexplained | count of received | Not in the history
-- column: checked | moment | Checked, UTC
SELECT v.day::text AS day, sum(in_history) AS in_history, sum(received) AS received, sum(received_and_in_history) AS both,
       sum(recovered) AS recovered, sum(answered_but_missing) AS missing,
       sum(to_be_read_again + unexplained + unprovable) AS unexplained, to_char(max(checked_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS checked
  FROM notification_completeness_by_day v WHERE app_id = :app AND v.day >= (now() - interval '30 days')::date
 GROUP BY v.day ORDER BY v.day DESC
