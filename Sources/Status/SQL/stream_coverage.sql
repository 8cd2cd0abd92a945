-- The coverage of a job, by stream.
--
-- Second readings and repeated searches for failed deliveries say nothing about how far the first readings are.
-- :unknown_codes are Apple's codes for IDs that do not exist.
SELECT i.*, coalesce(g.gaps, 0) AS gaps,
       to_char(g.gaps_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS gaps_from,
       to_char(g.gaps_to AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS gaps_to,
       to_char(i.until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS complete_until,
       to_char(i.newest AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS newest_until
  FROM (
    SELECT stream, count(*) AS items, array_agg(DISTINCT fingerprint) AS queries,
           count(*) FILTER (WHERE state = 'done') AS done,
           bool_or(item_key LIKE '%..%') AS has_windows,
           count(*) FILTER (WHERE state IN ('waiting', 'leased', 'superseded')) AS unfinished,
           count(*) FILTER (WHERE state = 'failed' AND NOT is_unknown) AS failed,
           count(*) FILTER (WHERE is_unknown) AS unknown,
           count(*) FILTER (WHERE complete_until IS NULL AND NOT is_unknown) AS never,
           CASE WHEN bool_or(is_first_window)
                THEN coalesce(min(window_start) FILTER (WHERE is_first_window AND state <> 'done'),
                              max(complete_until) FILTER (WHERE is_first_window))
                ELSE min(complete_until) END AS until,
           max(complete_until) AS newest
      FROM (SELECT *, state = 'failed' AND coalesce(error_code, 0) = ANY (:unknown_codes::text[]::bigint[]) AS is_unknown,
                   item_key LIKE '%..%' AND item_key NOT LIKE '%+%' AND item_key NOT LIKE 'failures#%' AS is_first_window
              FROM crawl_items WHERE app_id = :app AND job = :job) items
     GROUP BY stream) i
  LEFT JOIN (SELECT stream, count(*) AS gaps, min(gap_start) AS gaps_from, max(gap_end) AS gaps_to
               FROM coverage_gaps WHERE app_id = :app AND job = :job GROUP BY stream) g USING (stream)
 ORDER BY i.stream
