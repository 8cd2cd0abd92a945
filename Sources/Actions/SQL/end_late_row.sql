-- Ends a row whose deadline has passed, if this process still holds the row.
--
-- A row without a request that may have been applied is cancelled. Any other stays unknown: the success of the same request after the
-- deadline would not say whether Apple used the answer.
UPDATE action_rows SET
    state = CASE WHEN may_be_applied THEN 'unknown' ELSE 'cancelled' END,
    apple_message = format('not sent%s: Apple took the answer until %s', CASE WHEN may_be_applied THEN ' again' END,
                           to_char(send_by AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
    ended_at = CASE WHEN NOT may_be_applied THEN clock_timestamp() END,
    claimable_at = NULL, lease_owner = NULL
 WHERE app_id = :app AND batch_id = :batch AND position = :position AND lease_epoch = :epoch AND lease_owner = :owner
   AND send_by <= clock_timestamp()
RETURNING state
