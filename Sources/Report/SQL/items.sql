-- title: Items of the last run
-- section: operations
-- means: The job's items by history and state; failed ones also by error.
-- docs: ../reference/exit-codes.md
-- nothing: The job has no items.
-- views: crawl_items_by_state
-- flags: plain
-- column: stream | text | History
-- column: error_code | text | Error
-- column: done | count | Done
-- column: waiting | count | Waiting
-- column: leased | count | In hand
-- column: failed | count | Failed
SELECT stream, coalesce(CASE state WHEN 'failed' THEN error_code END::text, 'none') AS error_code,
       coalesce(sum(items) FILTER (WHERE state = 'done'), 0) AS done,
       coalesce(sum(items) FILTER (WHERE state = 'waiting'), 0) AS waiting,
       coalesce(sum(items) FILTER (WHERE state = 'leased'), 0) AS leased,
       coalesce(sum(items) FILTER (WHERE state = 'failed'), 0) AS failed
  FROM crawl_items_by_state WHERE app_id = :app AND job = :job
 GROUP BY stream, CASE state WHEN 'failed' THEN error_code END
 ORDER BY sum(items) FILTER (WHERE state = 'failed') DESC NULLS LAST, stream
