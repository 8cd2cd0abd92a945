-- Records that a request is about to be sent, if this process still has the row's lease, the row's deadline has not passed, and the row may be sent:
-- the approval of its batch is in force and of this policy, or an earlier request of the row can have been sent and this one is not the first that
-- Apple gets (purpose send). The row count says whether it was recorded.
--
-- It is committed before the request is sent. A request that only reads does not change whether Apple may have applied the row.
WITH held AS (
    UPDATE action_rows r SET
        state = CASE WHEN :purpose::text = 'send' THEN 'sending'
                     WHEN :purpose = 'repeat' OR r.may_be_applied THEN 'confirming' ELSE r.state END,
        request_id = :request_id,
        may_be_applied = r.may_be_applied OR :purpose IN ('send', 'repeat'),
        attempts = r.attempts + 1,
        first_sent_at = CASE WHEN :purpose IN ('send', 'repeat') THEN coalesce(r.first_sent_at, clock_timestamp()) ELSE r.first_sent_at END,
        last_sent_at = clock_timestamp()
      FROM action_batches b
     WHERE r.app_id = :app AND r.batch_id = :batch AND r.position = :position AND r.lease_epoch = :epoch AND r.lease_owner = :owner
       AND b.app_id = r.app_id AND b.batch_id = r.batch_id
       AND (:purpose NOT IN ('send', 'repeat') OR (r.send_by > clock_timestamp()) IS NOT FALSE)
       AND (r.may_be_applied AND :purpose <> 'send' OR approval_is_in_force(b) AND (b.policy_sha256 IS NULL OR b.policy_sha256 = :policy::text) IS TRUE)
    RETURNING r.app_id, r.batch_id, r.position, r.attempts
)
INSERT INTO action_attempts (app_id, batch_id, position, attempt, purpose, request_sha256)
SELECT app_id, batch_id, position, attempts, :purpose, :request_digest FROM held
RETURNING attempt
