-- Records a gap for each item with a period that no run has read and that Apple no longer serves; the row count says for how many.
--
-- :oldest       the oldest date that Apple serves
-- :unreachable  the beginning of the requested time that Apple does not serve; NULL if all of it is served
INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
SELECT app_id, job, stream, item_key, coalesce(complete_until, :unreachable::timestamptz),
       least(:oldest::timestamptz, window_end), 'Apple no longer serves notifications this old', :run::bigint
  FROM crawl_items
 WHERE app_id = :app AND job = :job AND stream = :stream AND run_id = :run
   AND coalesce(complete_until, :unreachable) < least(:oldest, window_end)
ON CONFLICT (app_id, job, stream, item_key, gap_start)
DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
