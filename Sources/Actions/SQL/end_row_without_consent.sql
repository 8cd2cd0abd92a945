-- Ends a row whose customer no longer consents, if this process still has the row's lease.
--
-- A row without a request that may have been applied is cancelled. Any other stays unknown: it is not sent again.
UPDATE action_rows SET
    state = CASE WHEN may_be_applied THEN 'unknown' ELSE 'cancelled' END,
    apple_message = format('not sent%s: the customer does not consent any more', CASE WHEN may_be_applied THEN ' again' END),
    ended_at = CASE WHEN NOT may_be_applied THEN clock_timestamp() END,
    claimable_at = NULL, lease_owner = NULL
 WHERE app_id = :app AND batch_id = :batch AND position = :position AND lease_epoch = :epoch AND lease_owner = :owner
RETURNING state
