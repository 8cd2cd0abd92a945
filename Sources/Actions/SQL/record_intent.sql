-- Records that a request is about to be sent, if this process still holds the row and the row's deadline has not passed; the row count says
-- whether it may be sent.
--
-- It is committed before the request is sent. A request that only reads does not change whether Apple may have applied the row.
WITH held AS (
    UPDATE action_rows SET
        state = CASE WHEN :purpose::text = 'send' THEN 'sending' ELSE 'confirming' END,
        request_id = :request_id,
        may_be_applied = may_be_applied OR :purpose IN ('send', 'repeat'),
        attempts = attempts + 1,
        first_sent_at = coalesce(first_sent_at, clock_timestamp()),
        last_sent_at = clock_timestamp()
     WHERE app_id = :app AND batch_id = :batch AND position = :position AND lease_epoch = :epoch AND lease_owner = :owner
       AND (:purpose NOT IN ('send', 'repeat') OR (send_by > clock_timestamp()) IS NOT FALSE)
    RETURNING app_id, batch_id, position, attempts
)
INSERT INTO action_attempts (app_id, batch_id, position, attempt, purpose, request_sha256)
SELECT app_id, batch_id, position, attempts, :purpose, :request_digest FROM held
RETURNING attempt
