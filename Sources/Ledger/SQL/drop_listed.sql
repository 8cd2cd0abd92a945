-- Removes the IDs of erased customers from the batch in stage_ids. The result is the number of distinct IDs.
--
-- :mark stands for the tombstone of s.item_key, which is computed with :inner and :outer.
WITH gone AS (
    DELETE FROM stage_ids s
     WHERE EXISTS (SELECT FROM erased_marks e WHERE e.app_id = :app::integer AND e.mark = :mark)
    RETURNING s.item_key
) SELECT count(DISTINCT item_key) AS ids FROM gone
