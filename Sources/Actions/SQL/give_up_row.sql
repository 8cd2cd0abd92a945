-- Ends a row whose deadline has passed, and gives back one whose batch has no approval in force, if this process still has the row's lease.
--
-- After the deadline, a row without a request that may have been applied is cancelled. Any other stays unknown: the success of the same
-- request after the deadline would not say whether Apple used the answer. Of the rows without an approval, one that Apple can have is read back.
UPDATE action_rows r SET
    state = CASE WHEN r.may_be_applied THEN 'unknown' WHEN late.is_late THEN 'cancelled' ELSE 'approved' END,
    apple_message = CASE WHEN late.is_late THEN format('not sent%s: Apple took the answer until %s', CASE WHEN r.may_be_applied THEN ' again' END,
                                                       to_char(r.send_by AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))
                         ELSE r.apple_message END,
    ended_at = CASE WHEN late.is_late THEN clock_timestamp() END,
    claimable_at = CASE WHEN NOT late.is_late THEN clock_timestamp() END, lease_owner = NULL
  FROM action_batches b, LATERAL (SELECT coalesce(x.send_by <= clock_timestamp(), false) AS is_late FROM action_rows x
                                   WHERE x.app_id = :app AND x.batch_id = :batch AND x.position = :position) late
 WHERE r.app_id = :app AND r.batch_id = :batch AND r.position = :position AND r.lease_epoch = :epoch AND r.lease_owner = :owner
   AND b.app_id = r.app_id AND b.batch_id = r.batch_id
   AND (late.is_late OR NOT approval_is_in_force(b))
RETURNING r.state
