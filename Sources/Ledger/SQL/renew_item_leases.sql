-- Renews the leases of items that a process still uses. The result is the items that it still holds.
--
-- :streams, :item_keys and :epochs name the items; each has one value for each item, in the same order.
UPDATE crawl_items i SET claimable_at = clock_timestamp() + :lease_milliseconds::bigint * interval '1 millisecond'
  FROM unnest(:streams::text[], :item_keys::text[], :epochs::text[]) AS held (stream, item_key, epoch)
 WHERE i.app_id = :app AND i.job = :job AND i.stream = held.stream AND i.item_key = held.item_key
   AND i.lease_epoch = held.epoch::bigint AND i.lease_owner = :owner AND i.state = 'leased'
RETURNING i.stream, i.item_key, i.lease_epoch
