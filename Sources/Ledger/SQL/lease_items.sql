-- Leases up to :count items of one stream of a run to :owner.
--
-- Items of dead workers come first, so that they do not wait for all planned items. Postponed items come last: after an outage of
-- Apple's servers the others are tried before them.
--
-- `run_id + 0` keeps the planner from the index of runs: a new run has no statistics, so the planner would expect one item and
-- read all of them for each lease.
WITH lost AS (
    SELECT item_key, claimable_at FROM crawl_items
     WHERE app_id = :app AND job = :job AND stream = :stream AND run_id + 0 = :run AND state = 'leased'
       AND claimable_at <= clock_timestamp()
     ORDER BY claimable_at, item_key LIMIT :count::bigint FOR UPDATE SKIP LOCKED
), waiting AS (
    SELECT item_key, claimable_at FROM crawl_items
     WHERE app_id = :app AND job = :job AND stream = :stream AND run_id + 0 = :run AND state = 'waiting'
       AND claimable_at <= clock_timestamp()
     ORDER BY claimable_at, item_key LIMIT :count::bigint - (SELECT count(*) FROM lost) FOR UPDATE SKIP LOCKED
), next AS (
    SELECT *, 1 AS turn FROM lost UNION ALL SELECT *, 2 FROM waiting
), taken AS (
    UPDATE crawl_items i SET state = 'leased', lease_owner = :owner, lease_epoch = i.lease_epoch + 1,
           claimable_at = clock_timestamp() + :lease_milliseconds::bigint * interval '1 millisecond'
      FROM next
     WHERE i.app_id = :app AND i.job = :job AND i.stream = :stream AND i.item_key = next.item_key
    RETURNING i.*, next.turn, next.claimable_at AS was_claimable_at
)
SELECT item_key, lease_epoch, page_seq, cursor, window_start, window_end, other_environment, page_count, restarts, deferrals
  FROM taken ORDER BY turn, was_claimable_at, item_key
