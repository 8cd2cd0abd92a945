-- By how many seconds a job's latest moment is ahead of PostgreSQL's clock: the moment of its unfinished run, or the end of a window of
-- :streams.
SELECT ceil(extract(epoch FROM greatest(
           (SELECT frozen_now FROM runs WHERE app_id = :app AND job = :job AND finished_at IS NULL),
           (SELECT max(window_end) FROM crawl_items
             WHERE app_id = :app AND job = :job AND stream = ANY (:streams::text[]))
       ) - clock_timestamp()))::bigint AS ahead
