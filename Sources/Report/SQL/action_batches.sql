-- The last batches of actions: who planned and approved them, and what became of their rows.
SELECT left(batch, 12) AS batch, job, action, to_char(planned_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS planned, planned_by,
       to_char(approved_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS approved,
       CASE WHEN approval_required THEN coalesce(approved_by, 'not approved') ELSE 'not required' END AS approved_by,
       to_char(started_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS sent,
       rows_to_send AS to_send, rows_sorted_out AS sorted_out, waiting, succeeded,
       rejected, unknown, not_applied, cancelled, confirmed
  FROM actions_by_batch v WHERE app_id = :app ORDER BY v.planned_at DESC, v.batch LIMIT 20
