-- Adds the failed items that can be retried to a run; the row count says how many.
--
-- The token of an item without rejected records may still be valid. An item whose answer counts as a whole begins again, because only the
-- pages of one run show what has left it.
UPDATE crawl_items SET run_id = :run, :reset_to_waiting,
       cursor = CASE WHEN stream <> ALL (:whole_streams::text[]) AND (stream, item_key) NOT IN (:rejected_items) THEN cursor END
 WHERE :is_retryable
