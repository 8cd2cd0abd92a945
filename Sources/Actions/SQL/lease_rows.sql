-- Leases up to :count rows of a batch to :owner.
--
-- Rows of dead processes and rows with an unknown outcome come first, because their claimable_at is the oldest. Without an approval in
-- force, only rows are taken that can have been sent, and those whose deadline has passed: the sender ends them.
--
-- With :keeps_refused_id, a row that was not sent gets the request ID of the subject's last refused request.
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
       coalesce(request_id, CASE WHEN :keeps_refused_id THEN reusable_request_id(:app, :batch, position, subject, :action) END)::text AS request_id,
       coalesce(send_by <= clock_timestamp(), false) AS is_late,
       salted_sha256 = salted_row_sha256(salt, position, verdict, input, subject, parameters, stake_milliunits, currency, expires_date_before,
                                         transaction_id_before, send_by, consistency_token, request_reference_id_before) AS is_unchanged
  FROM taken ORDER BY position
