-- Renews the leases that :owner still has.
UPDATE action_rows r SET claimable_at = clock_timestamp() + :lease_milliseconds::bigint * interval '1 millisecond'
  FROM unnest(:positions::text[], :epochs::text[]) AS held (position, epoch)
 WHERE r.app_id = :app AND r.batch_id = :batch AND r.position = held.position::bigint AND r.lease_epoch = held.epoch::bigint
   AND r.lease_owner = :owner
RETURNING r.position, r.lease_epoch
