-- Until when items of a job are complete: the thousand that follow the item with :stream and :item_key.
--
-- The gaps of windows are recorded for the item `app`.
SELECT i.stream, i.item_key, i.state, i.fingerprint,
       to_char(i.window_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS window_start,
       to_char(i.window_end AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS window_end,
       to_char(i.complete_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS complete_until,
       coalesce((SELECT array_agg(to_char(g.gap_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '/'
                                     || to_char(g.gap_end AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                                     ORDER BY g.gap_start)
                   FROM coverage_gaps g WHERE g.app_id = i.app_id AND g.job = i.job AND g.stream = i.stream
                    AND g.item_key IN (i.item_key, CASE WHEN i.item_key LIKE '%..%' THEN 'app' END)), '{}') AS gaps
  FROM crawl_items i
 WHERE i.app_id = :app AND i.job = :job AND (i.stream, i.item_key) > (:stream, :item_key)
 ORDER BY i.stream, i.item_key LIMIT 1000
