-- Makes items of a run available that would become so in more than :longest_milliseconds.
--
-- That is longer than every lease and deferral, so PostgreSQL's clock was ahead when the item was leased, released or put off.
UPDATE crawl_items SET claimable_at = clock_timestamp()
 WHERE app_id = :app AND job = :job AND run_id = :run
   AND claimable_at > clock_timestamp() + :longest_milliseconds::bigint * interval '1 millisecond'
