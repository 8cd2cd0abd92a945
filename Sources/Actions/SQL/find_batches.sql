-- The batches of a job, the newest first; with :recent_and_open only batches of the last day that have rows to send or to find out.
SELECT batch_id, action, rows_sha256, parameters_sha256, salted_sha256, input_name, input_sha256, input_columns, row_count, rows_to_send, rows_invalid, rows_ineligible,
       rows_duplicate, rows_same, planned_at, planned_by, approval_required, approved_at, approved_by, approved_rows,
       approval_expires_at, policy_sha256, policy_approval_id, started_at, finished_at, approval_ended_at, approval_ended_by, approval_ended_because,
       approval_expires_at <= clock_timestamp() AS is_expired
  FROM action_batches b
 WHERE app_id = :app AND job = :job
   AND (NOT :recent_and_open::boolean
        OR planned_at > now() - interval '1 day' AND removed_at IS NULL AND (approved_at IS NOT NULL OR NOT approval_required)
           AND EXISTS (SELECT FROM action_rows r
                        WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id
                          AND (r.state IN ('sending', 'unknown', 'confirming')
                               OR r.state IN ('planned', 'approved') AND approval_is_in_force(b))))
 ORDER BY planned_at DESC, batch_id
