COMMENT ON TABLE action_batches IS 'Batches of requests that change something: what was planned, by whom, and who approved it.';
COMMENT ON COLUMN action_batches.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_batches.batch_id IS
    'A version 5 UUID of parameters_sha256 and occurrence. The IDs of the requests are derived from it, so a lost database gives the same IDs.';
COMMENT ON COLUMN action_batches.job IS 'The name of the job.';
COMMENT ON COLUMN action_batches.action IS 'The key of the action in the job file, such as extendRenewalDate.';
COMMENT ON COLUMN action_batches.rows_sha256 IS 'SHA-256 of the app, the job, the action, and of the verdict, the values and everything that decides the outcome of each row, hexadecimal: what an approval names.';
COMMENT ON COLUMN action_batches.occurrence IS 'The number of earlier batches of the app with the same parameters_sha256.';
COMMENT ON COLUMN action_batches.input_name IS 'The path of the input file; NULL for a query, a retry, or an action without input.';
COMMENT ON COLUMN action_batches.input_sha256 IS
    'SHA-256 of the input file when it was planned, hexadecimal. A later change of the file does not change the batch.';
COMMENT ON COLUMN action_batches.input_columns IS 'The columns of the input, in their order. They are kept in the result files.';
COMMENT ON COLUMN action_batches.row_count IS 'The rows of the input.';
COMMENT ON COLUMN action_batches.rows_to_send IS 'The rows that the plan found valid: what an approval counts.';
COMMENT ON COLUMN action_batches.rows_invalid IS 'The rows with a value that Apple would refuse.';
COMMENT ON COLUMN action_batches.rows_ineligible IS 'The rows that the ledger''s records rule out.';
COMMENT ON COLUMN action_batches.rows_duplicate IS 'The rows for a subscription or purchase that an earlier row of the batch has.';
COMMENT ON COLUMN action_batches.rows_same IS 'The rows that an earlier batch of the job has already.';
COMMENT ON COLUMN action_batches.planned_at IS 'When the batch was planned.';
COMMENT ON COLUMN action_batches.planned_by IS 'The database role that planned the batch.';
COMMENT ON COLUMN action_batches.approval_required IS 'Whether the batch is sent only after an approval.';
COMMENT ON COLUMN action_batches.approved_at IS 'When the batch was approved; NULL before.';
COMMENT ON COLUMN action_batches.approved_by IS 'The database role that approved the batch, or the policy that the batch follows from.';
COMMENT ON COLUMN action_batches.approved_rows IS 'The number of rows that the approval names.';
COMMENT ON COLUMN action_batches.approval_expires_at IS 'No row is sent for the first time after this moment.';
COMMENT ON COLUMN action_batches.started_at IS 'When the first row was about to be sent.';
COMMENT ON COLUMN action_batches.finished_at IS 'When every row had an outcome, known or not; NULL before.';
COMMENT ON COLUMN action_batches.removed_at IS
    'When storeledger jobs remove forgot the job of this batch; NULL otherwise. The batch stays, and its rows that were never sent are cancelled.';
COMMENT ON COLUMN action_batches.policy_sha256 IS
    'SHA-256 of the policy that gave the rows their values, as in action_policy_approvals; NULL without a policy.';
COMMENT ON COLUMN action_batches.policy_approval_id IS
    'The approval of the policy from which the approval of this batch follows, in action_policy_approvals; NULL for a batch that was approved by itself.';
COMMENT ON COLUMN action_batches.salted_sha256 IS
    'SHA-256 of salted_sha256 of all rows by position, hexadecimal. It covers the rows that an erasure has not cleared; NULL for a batch that an earlier version has planned and finished.';
COMMENT ON COLUMN action_batches.parameters_sha256 IS
    'SHA-256 of the app, job, action and normalised rows, hexadecimal. It does not depend on the ledger''s records, so a lost database gives the same IDs of requests. NULL for a batch that an earlier version planned: then it is rows_sha256.';
COMMENT ON COLUMN action_batches.approval_ended_at IS
    'When the approval ended before it expired, and the rows that were not sent were cancelled; NULL otherwise.';
COMMENT ON COLUMN action_batches.approval_ended_by IS 'The database role whose statement ended the approval.';
COMMENT ON COLUMN action_batches.approval_ended_because IS
    'withdrawn, superseded (a newer approval of the job was given), policy changed, expired (the requests were planned again), or removed (the job was); NULL while the approval has not ended.';
