-- Resolves the rejected records of an item that earlier runs stored, because this run has read the item from its first page to its
-- last.
--
-- Every record that Apple returned for the item is now loaded, or rejected again under this run. The planner has set the item
-- back to its first page because of these rejects. The window of failed deliveries moves from run to run, so its end says
-- nothing about earlier rejects.
UPDATE rejected_records r SET resolved_at = clock_timestamp()
 WHERE r.item_key = :item_key AND r.app_id IN (:app, :records_app) AND r.job = :job AND r.stream = :stream AND r.run_id < :run
   AND r.resolved_at IS NULL AND r.dismissed_at IS NULL AND r.item_key NOT LIKE :failures_prefix || '%'
