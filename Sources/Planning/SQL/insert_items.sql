-- Plans one item for each ID in stage_ids.
--
-- A finished item continues from its cursor, unless its filters have changed. A window of notifications starts at one of these dates,
-- so that no time is skipped:
--
-- - After a change of the filters: the requested start.
-- - If no window was completed, or the item has rejected records: the previous start or the requested start, whichever is earlier.
-- - With a restart: the end of the last complete window less the overlap, or the requested start, whichever is earlier.
-- - Otherwise: the end of the last complete window less the overlap.
--
-- An item stays with the other environment only if that environment knew the ID.
--
-- :starts_at and :ends_at  the requested window; NULL for a stream whose requests contain no dates
-- :restart                 whether everything is requested again
-- :keeps_cursor            whether the cursor is kept between runs
-- :oldest                  the oldest date that Apple serves
-- :overlap_milliseconds    how much of the last complete window is requested again
-- :tries_sandbox           whether the sandbox may be tried
-- :follows_others          whether to use the cursors of the app's other jobs with the same filters, for a job with `changedSince`,
--                          which has no list. All records before such a cursor are in the ledger, regardless of the job.
INSERT INTO crawl_items AS i
    (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end, cursor,
     complete_until, saw_revocation)
SELECT :app::integer, :job::text, :stream::text, listed.item_key, :run::bigint, 'waiting', clock_timestamp(), :filters::text,
       :starts_at::timestamptz, :ends_at::timestamptz, seen.cursor, seen.complete_until, coalesce(seen.saw_revocation, false)
  FROM (SELECT item_key FROM stage_ids ORDER BY item_key) listed LEFT JOIN LATERAL (
           SELECT o.cursor, o.complete_until, o.saw_revocation
             FROM (SELECT DISTINCT job FROM runs WHERE app_id = :app::integer AND :follows_others::boolean) others
             JOIN crawl_items o ON o.app_id = :app::integer AND o.job = others.job AND o.stream = :stream::text
                               AND o.item_key = listed.item_key
            WHERE o.job <> :job::text AND o.fingerprint = :filters::text AND o.cursor IS NOT NULL AND o.other_environment IS NULL
            ORDER BY o.complete_until DESC NULLS LAST, o.job LIMIT 1
       ) seen ON true
 WHERE :starts_at IS NULL OR :starts_at < :ends_at
ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
    run_id = excluded.run_id, :reset_to_waiting,
    cursor = CASE WHEN NOT :restart::boolean AND :keeps_cursor::boolean AND i.fingerprint = excluded.fingerprint
                       AND (i.other_environment IS NULL OR (:tries_sandbox::boolean AND i.complete_until IS NOT NULL))
                       AND i.item_key NOT IN (:rejected_of_stream)
                  THEN i.cursor END,
    other_environment = CASE WHEN NOT :restart::boolean AND :tries_sandbox::boolean AND i.complete_until IS NOT NULL
                             THEN i.other_environment END,
    complete_until = CASE WHEN i.fingerprint = excluded.fingerprint THEN i.complete_until END,
    window_start = CASE
        WHEN excluded.window_end IS NULL OR i.fingerprint <> excluded.fingerprint THEN excluded.window_start
        WHEN i.complete_until IS NULL OR i.item_key IN (:rejected_of_stream)
        THEN greatest(least(i.window_start, excluded.window_start), :oldest::timestamptz)
        WHEN :restart::boolean
        THEN greatest(least(i.complete_until - :overlap_milliseconds::bigint * interval '1 millisecond', excluded.window_start), :oldest)
        ELSE least(greatest(i.complete_until - :overlap_milliseconds * interval '1 millisecond', :oldest), excluded.window_end) END,
    window_end = excluded.window_end, fingerprint = excluded.fingerprint
 WHERE i.run_id <> excluded.run_id
