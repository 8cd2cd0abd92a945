-- title: Batches
-- section: actions
-- means: The last 20 batches of requests that change something at Apple: who planned and approved them, and the outcome of their rows.
-- note: “Confirmed” counts the rows whose effect a crawl has seen in Apple's data.
-- docs: ../guides/actions.md
-- nothing: Nothing was planned.
-- views: actions_by_batch
-- flags: plain wide
-- column: batch | text | Batch
-- column: job | text | Job
-- column: action | text | Action
-- column: planned | moment | Planned, UTC
-- column: planned_by | text | Planned by
-- column: approved | moment | Approved, UTC
-- column: approved_by | text | Approved by
-- column: sent | moment | First sent, UTC
-- column: to_send | count | To send
-- column: sorted_out | count | Sorted out
-- column: waiting | count of to_send | Waiting
-- column: succeeded | count of to_send | Succeeded
-- column: rejected | count of to_send | Rejected
-- column: unknown | count of to_send | Unknown
-- column: not_applied | count of to_send | Not applied
-- column: cancelled | count of to_send | Cancelled
-- column: confirmed | count of to_send | Confirmed
SELECT left(batch, 12) AS batch, job, action, to_char(planned_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS planned, planned_by,
       to_char(approved_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS approved,
       CASE WHEN approval_required THEN coalesce(approved_by, 'not approved') ELSE 'not required' END AS approved_by,
       to_char(started_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS sent,
       rows_to_send AS to_send, rows_sorted_out AS sorted_out, waiting, succeeded,
       rejected, unknown, not_applied, cancelled, confirmed
  FROM actions_by_batch v WHERE app_id = :app ORDER BY v.planned_at DESC, v.batch LIMIT 20
