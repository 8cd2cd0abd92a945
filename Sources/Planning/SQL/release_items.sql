-- Makes the items of a run available that would otherwise become available only after :longest_milliseconds.
--
-- No lease or deferral is that long, so PostgreSQL's clock was ahead when the item was leased, released or postponed.
UPDATE crawl_items SET claimable_at = clock_timestamp()
 WHERE app_id = :app AND job = :job AND run_id = :run
   AND claimable_at > clock_timestamp() + :longest_milliseconds::bigint * interval '1 millisecond'
