-- Leases up to :count rows of a batch to :owner.
--
-- Rows of dead processes and rows with an unknown outcome come first, because their claimable_at is the oldest. Without an approval in
-- force, only rows are taken that can have been sent, and those whose deadline has passed: the sender ends them.
--
-- With :keeps_refused_id, a row that was not sent gets the request ID of the subject's last refused request, unless a request with that ID was
-- not refused, or another row of the subject is open, which could get the same ID.
WITH next AS (
    SELECT position FROM action_rows
     WHERE app_id = :app AND batch_id = :batch AND claimable_at <= clock_timestamp()
       AND (may_be_applied OR send_by <= clock_timestamp()
            OR (SELECT approval_is_in_force(b) FROM action_batches b WHERE b.app_id = :app AND b.batch_id = :batch))
     ORDER BY claimable_at, position LIMIT :count::bigint FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE action_rows r SET lease_owner = :owner, lease_epoch = r.lease_epoch + 1,
           claimable_at = clock_timestamp() + :lease_milliseconds::bigint * interval '1 millisecond'
      FROM next
     WHERE r.app_id = :app AND r.batch_id = :batch AND r.position = next.position
    RETURNING r.*
)
SELECT position, parameters, subject, lease_epoch, may_be_applied, attempts, answer, expires_date_before, transaction_id_before,
       consistency_token, request_reference_id_before,
       coalesce(taken.request_id, CASE WHEN :keeps_refused_id THEN (
           SELECT r.request_id FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
            WHERE r.app_id = :app AND r.subject = taken.subject AND b.action = :action AND r.state = 'rejected' AND r.request_id IS NOT NULL
              AND NOT EXISTS (SELECT FROM action_rows o WHERE o.app_id = r.app_id AND o.subject = r.subject AND o.request_id = r.request_id
                                 AND o.state <> 'rejected')
              AND NOT EXISTS (SELECT FROM action_rows o JOIN action_batches x ON x.app_id = o.app_id AND x.batch_id = o.batch_id
                               WHERE o.app_id = r.app_id AND o.subject = r.subject AND x.action = b.action
                                 AND o.state IN ('planned', 'approved', 'sending', 'unknown', 'confirming')
                                 AND (o.batch_id, o.position) <> (taken.batch_id, taken.position))
            ORDER BY r.ended_at DESC, r.batch_id LIMIT 1) END)::text AS request_id,
       coalesce(send_by <= clock_timestamp(), false) AS is_late,
       salted_sha256 = salted_row_sha256(salt, position, verdict, input, subject, parameters, stake_milliunits, currency, expires_date_before,
                                         transaction_id_before, send_by, consistency_token, request_reference_id_before) AS is_unchanged
  FROM taken ORDER BY position
