-- Records a gap for each unfinished window of an earlier run that Apple no longer serves; the row count says for how many.
--
-- :oldest is the oldest date that Apple serves.
INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
SELECT app_id, job, stream, item_key, window_start, window_end,
       CASE WHEN :is_first_reading THEN 'the window was not finished while Apple served it'
            ELSE 'the day was read once, and its second reading was not finished while Apple served it' END, :run
  FROM crawl_items i
 WHERE app_id = :app AND job = :job AND stream = :stream AND fingerprint = :filters
   AND state IN ('failed', 'superseded') AND window_end <= :oldest AND item_key NOT LIKE :failures_prefix || '%'
ON CONFLICT DO NOTHING
