-- Records the result of an attempt, and the state of its row, if this process still has the row's lease.
--
-- The attempt is recorded in any case: its request was sent by this process. With :releases the lease ends, and the row is not
-- available before the next run opens the batch; with :later_milliseconds it is available after this time. A row that did not reach Apple returns to approved; if the approval of its batch has
-- ended meanwhile, it is cancelled like the other unsent rows.
WITH attempt AS (
    UPDATE action_attempts SET ended_at = clock_timestamp(), http_status = :http_status::integer, apple_code = :apple_code::bigint,
           message = :message::text, answer_sha256 = :answer_digest::bytea, answer = :answer_body::bytea
     WHERE app_id = :app AND batch_id = :batch AND position = :position AND attempt = :attempt::integer AND ended_at IS NULL
    RETURNING purpose IN ('send', 'repeat') AS writes
), batch AS (
    SELECT :state::text = 'approved' AND approval_ended_because IS NOT NULL AS is_over FROM action_batches WHERE app_id = :app AND batch_id = :batch
)
UPDATE action_rows SET
    state = CASE WHEN (SELECT is_over FROM batch) THEN 'cancelled' ELSE :state END,
    first_sent_at = CASE WHEN :state <> 'approved' THEN first_sent_at END,
    may_be_applied = :may_be_applied::boolean,
    -- A request that only reads says nothing about Apple's answer to the row.
    http_status = CASE WHEN :http_status IS NOT NULL AND (SELECT writes FROM attempt) THEN :http_status ELSE http_status END,
    apple_code = CASE WHEN :http_status IS NOT NULL AND (SELECT writes FROM attempt) THEN :apple_code ELSE apple_code END,
    apple_message = CASE WHEN (SELECT is_over FROM batch) THEN 'not sent: the approval has ended' WHEN :state = 'succeeded' THEN NULL WHEN (SELECT writes FROM attempt) IS FALSE THEN apple_message
                         ELSE coalesce(:message, apple_message) END,
    answer = coalesce(:kept::jsonb, answer),
    confirmed_by = coalesce(:confirmed_by::text, confirmed_by),
    ended_at = CASE WHEN :is_end::boolean OR (SELECT is_over FROM batch) THEN clock_timestamp() END,
    claimable_at = CASE WHEN :releases::boolean OR (SELECT is_over FROM batch) THEN NULL
                        WHEN :later_milliseconds::bigint IS NOT NULL THEN clock_timestamp() + :later_milliseconds * interval '1 millisecond'
                        ELSE claimable_at END,
    lease_owner = CASE WHEN :releases OR :later_milliseconds IS NOT NULL OR (SELECT is_over FROM batch) THEN NULL ELSE lease_owner END
 WHERE app_id = :app AND batch_id = :batch AND position = :position AND lease_epoch = :epoch AND lease_owner = :owner
RETURNING state
