-- Records what became of an attempt, and the state of its row, if this process still holds the row.
--
-- The attempt is recorded in any case: its request was sent by this process. With :releases the lease ends, and the row is not
-- available before the next run opens the batch.
WITH attempt AS (
    UPDATE action_attempts SET ended_at = clock_timestamp(), http_status = :http_status::integer, apple_code = :apple_code::bigint,
           message = :message::text, answer_sha256 = :answer_digest::bytea, answer = :answer_body::bytea
     WHERE app_id = :app AND batch_id = :batch AND position = :position AND attempt = :attempt::integer AND ended_at IS NULL
    RETURNING purpose IN ('send', 'repeat') AS writes
)
UPDATE action_rows SET
    state = :state,
    may_be_applied = :may_be_applied::boolean,
    -- A request that only reads says nothing about Apple's answer to the row.
    http_status = CASE WHEN :http_status IS NOT NULL AND (SELECT writes FROM attempt) THEN :http_status ELSE http_status END,
    apple_code = CASE WHEN :http_status IS NOT NULL AND (SELECT writes FROM attempt) THEN :apple_code ELSE apple_code END,
    apple_message = CASE WHEN :state::text = 'succeeded' THEN NULL WHEN (SELECT writes FROM attempt) IS FALSE THEN apple_message
                         ELSE coalesce(:message, apple_message) END,
    answer = coalesce(:kept::jsonb, answer),
    confirmed_by = coalesce(:confirmed_by::text, confirmed_by),
    ended_at = CASE WHEN :is_end::boolean THEN clock_timestamp() END,
    claimable_at = CASE WHEN :releases::boolean THEN NULL ELSE claimable_at END,
    lease_owner = CASE WHEN :releases THEN NULL ELSE lease_owner END
 WHERE app_id = :app AND batch_id = :batch AND position = :position AND lease_epoch = :epoch AND lease_owner = :owner
RETURNING position
