-- When the next row can be taken, in milliseconds from now; NULL if none can be sent any more.
--
-- A row that another process is taking now is already available, so the wait can be zero or less. Without an approval in
-- force, a row that cannot have been sent counts only while a process has its lease, or if its deadline has passed.
SELECT ceil(extract(epoch FROM min(claimable_at) - clock_timestamp()) * 1000)::bigint AS wait_ms
  FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND claimable_at IS NOT NULL
   AND (may_be_applied OR claimable_at > clock_timestamp() OR send_by <= clock_timestamp()
        OR (SELECT approval_is_in_force(b) FROM action_batches b WHERE b.app_id = :app AND b.batch_id = :batch))
