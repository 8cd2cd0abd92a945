-- When the next item of one stream of a run can be leased, in milliseconds from now; NULL if every item is done or has failed.
--
-- `run_id + 0`: see lease_items.sql.
SELECT ceil(extract(epoch FROM min(claimable_at) - clock_timestamp()) * 1000)::bigint AS wait_ms
  FROM crawl_items
 WHERE app_id = :app AND job = :job AND stream = :stream AND run_id + 0 = :run AND claimable_at IS NOT NULL
