-- When the next row can be taken, in milliseconds from now; NULL if none can be sent any more.
--
-- A row that another process is taking in this moment is already available, so the wait can be zero or less. After the approval
-- has expired, a row that was never sent counts only while a process holds it, or if its deadline has passed.
SELECT ceil(extract(epoch FROM min(claimable_at) - clock_timestamp()) * 1000)::bigint AS wait_ms
  FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND claimable_at IS NOT NULL
   AND (first_sent_at IS NOT NULL OR claimable_at > clock_timestamp() OR send_by <= clock_timestamp()
        OR (SELECT (approval_expires_at > clock_timestamp()) IS NOT FALSE FROM action_batches b
             WHERE b.app_id = :app AND b.batch_id = :batch))
