-- Adds windows of earlier runs to the run: unfinished windows, windows with rejected records, and windows of runs from the future.
-- A run from the future may have read a window before its end.
--
-- The token of an unfinished window may still be valid. The other windows start again. :oldest is the oldest date that Apple serves.
UPDATE crawl_items SET run_id = :run, :reset_to_waiting,
       cursor = CASE WHEN state IN ('failed', 'superseded') AND item_key NOT IN (:rejected_of_stream) THEN cursor END
 WHERE app_id = :app AND job = :job AND stream = :stream AND fingerprint = :filters AND window_end > :oldest
   AND (state IN ('failed', 'superseded') OR item_key IN (:rejected_of_stream)
        OR run_id IN (:future_runs))
