-- The batches of a job, the newest first.
SELECT batch_id, action, rows_sha256, input_name, input_sha256, input_columns, row_count, rows_to_send, rows_invalid, rows_ineligible,
       rows_duplicate, rows_same, planned_at, planned_by, approval_required, approved_at, approved_by, approved_rows,
       approval_expires_at, started_at, finished_at, approval_expires_at <= clock_timestamp() AS is_expired
  FROM action_batches WHERE app_id = :app AND job = :job ORDER BY planned_at DESC, batch_id
