-- Forgets windows that were planned while PostgreSQL's clock was ahead, so that the run plans their time again.
--
-- These are windows that end in the future, and the windows of runs from the future that follow the last window of another run. The
-- second readings of such runs may have been too early, so they are deleted too.
DELETE FROM crawl_items i
 WHERE i.app_id = :app AND i.job = :job AND i.stream = :stream AND i.fingerprint = :filters
   AND (i.window_end > :latest_moment
        OR i.run_id IN (:future_runs)
           AND (i.item_key LIKE '%' || :second_suffix
                OR i.window_end > coalesce(
                       (SELECT max(o.window_end) FROM crawl_items o
                         WHERE o.app_id = :app AND o.job = :job AND o.stream = :stream AND o.fingerprint = :filters
                           AND o.window_end <= :latest_moment AND o.run_id NOT IN (:future_runs)), '-infinity')))
