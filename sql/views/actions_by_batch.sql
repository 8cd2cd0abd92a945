-- Which batches of requests that change something were planned, approved and sent, and what happened to their rows?
--
-- One row for each app_id, job, batch, occurrence. rows_to_send = waiting + succeeded + rejected + unknown + not_applied + cancelled.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW actions_by_batch AS
SELECT
    b.app_id, b.job, b.action, b.rows_sha256 AS batch, b.occurrence, b.planned_at, b.planned_by, b.approval_required, b.approved_at, b.approved_by,
    b.approval_expires_at, b.started_at, b.finished_at,
    b.row_count, b.rows_to_send, b.row_count - b.rows_to_send AS rows_sorted_out,
    counts.waiting, counts.succeeded, counts.rejected, counts.unknown, counts.not_applied, counts.cancelled,
    -- A sub-query, so that a query of the newest batches does not look for the effects of the others.
    (SELECT count(*) FROM actions_confirmed c WHERE c.app_id = b.app_id AND c.job = b.job AND c.batch = b.rows_sha256
        AND c.occurrence = b.occurrence AND c.seen_at IS NOT NULL) AS confirmed,
    counts.in_hand, b.removed_at, b.policy_sha256, b.policy_approval_id,
    b.approval_ended_at, b.approval_ended_because
FROM action_batches b
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE r.state IN ('planned', 'approved')) AS waiting,
           count(*) FILTER (WHERE r.state = 'succeeded') AS succeeded,
           count(*) FILTER (WHERE r.state = 'rejected') AS rejected,
           count(*) FILTER (WHERE r.state IN ('sending', 'confirming', 'unknown')) AS unknown,
           count(*) FILTER (WHERE r.state = 'not_applied') AS not_applied,
           count(*) FILTER (WHERE r.state = 'cancelled') AS cancelled,
           count(*) FILTER (WHERE r.lease_owner IS NOT NULL AND r.claimable_at > clock_timestamp()) AS in_hand
      FROM action_rows r WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id AND r.verdict = 'valid'
) counts;
COMMENT ON VIEW actions_by_batch IS
    'The batches of requests that change something: planned and approved by whom and when, sent when, and the rows by outcome.';
COMMENT ON COLUMN actions_by_batch.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN actions_by_batch.job IS 'The name of the job.';
COMMENT ON COLUMN actions_by_batch.action IS 'The key of the action in the job file.';
COMMENT ON COLUMN actions_by_batch.batch IS 'The hash of the batch, which storeledger actions plan prints.';
COMMENT ON COLUMN actions_by_batch.occurrence IS 'The number of earlier batches of the app with the same hash.';
COMMENT ON COLUMN actions_by_batch.planned_at IS 'When the batch was planned.';
COMMENT ON COLUMN actions_by_batch.planned_by IS 'The database role that planned the batch.';
COMMENT ON COLUMN actions_by_batch.approval_required IS 'Whether the batch is sent only after an approval.';
COMMENT ON COLUMN actions_by_batch.approved_at IS 'When the batch was approved; NULL before.';
COMMENT ON COLUMN actions_by_batch.approved_by IS 'The database role that approved the batch, or the policy that the batch follows from.';
COMMENT ON COLUMN actions_by_batch.approval_expires_at IS 'No row is sent for the first time after this moment.';
COMMENT ON COLUMN actions_by_batch.started_at IS 'When the first row was about to be sent.';
COMMENT ON COLUMN actions_by_batch.finished_at IS 'When every row had an outcome, known or not; NULL before.';
COMMENT ON COLUMN actions_by_batch.row_count IS 'The rows of the input.';
COMMENT ON COLUMN actions_by_batch.rows_to_send IS 'The rows that the plan found valid.';
COMMENT ON COLUMN actions_by_batch.rows_sorted_out IS 'The other rows.';
COMMENT ON COLUMN actions_by_batch.waiting IS 'The rows that were not sent yet.';
COMMENT ON COLUMN actions_by_batch.succeeded IS 'The rows that Apple applied.';
COMMENT ON COLUMN actions_by_batch.rejected IS 'The rows that Apple refused.';
COMMENT ON COLUMN actions_by_batch.unknown IS 'The rows that were sent and whose outcome is not known, or not yet.';
COMMENT ON COLUMN actions_by_batch.not_applied IS 'The rows that were sent, and that Apple''s data shows as not applied.';
COMMENT ON COLUMN actions_by_batch.cancelled IS 'The rows that were not sent, because the approval ended, the customer was erased, the job was removed, or Apple''s deadline had passed.';
COMMENT ON COLUMN actions_by_batch.confirmed IS 'The rows whose effect a crawl has seen in Apple''s data; see actions_confirmed.';
COMMENT ON COLUMN actions_by_batch.in_hand IS 'The rows that a process works on now.';
COMMENT ON COLUMN actions_by_batch.removed_at IS 'When storeledger jobs remove forgot the job; NULL otherwise.';
COMMENT ON COLUMN actions_by_batch.policy_sha256 IS 'SHA-256 of the policy that gave the rows their values; NULL without a policy.';
COMMENT ON COLUMN actions_by_batch.policy_approval_id IS
    'The number of the policy''s approval, from which the batch''s approval follows; NULL for a batch that was approved by itself.';
COMMENT ON COLUMN actions_by_batch.approval_ended_at IS 'When the approval ended before it expired; NULL otherwise.';
COMMENT ON COLUMN actions_by_batch.approval_ended_because IS
    'withdrawn, superseded (by a newer approval of the job), policy changed, expired (its requests were planned again), or removed (the job was); NULL otherwise.';
