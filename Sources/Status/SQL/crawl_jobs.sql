-- The jobs that have run, without removed ones, each with its last run and when a run was last complete.
SELECT a.bundle_id, a.environment, r.job, r.run_id,
       to_char(r.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started, r.exit_code,
       CASE WHEN r.finished_at IS NOT NULL THEN 'finished'
            WHEN EXISTS (SELECT FROM crawl_items i WHERE i.app_id = r.app_id AND i.job = r.job AND i.state = 'leased'
                            AND i.claimable_at > clock_timestamp()) THEN 'running'
            ELSE 'unfinished' END AS state,
       (SELECT to_char(max(c.finished_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM runs c
         WHERE c.app_id = r.app_id AND c.job = r.job AND c.exit_code IN (0, 2)) AS complete
  FROM (SELECT DISTINCT ON (app_id, job) app_id, job, run_id, started_at, finished_at, exit_code FROM runs
         WHERE job NOT LIKE '% (removed)' ORDER BY app_id, job, run_id DESC) r
  JOIN apps a USING (app_id) ORDER BY a.bundle_id, a.environment, r.job
