-- The newest complete run of a job with these streams and filters, if it began in the last :limit_seconds and the job has no unfinished
-- run.
--
-- A retry does not count, because it requests only failed items. A run that began while PostgreSQL's clock was ahead does not count
-- either.
SELECT run_id, exit_code, to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started,
       to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS finished,
       extract(epoch FROM clock_timestamp() - started_at)::bigint AS age
  FROM runs
 WHERE app_id = :app AND job = :job AND fingerprint = :fingerprint AND NOT is_retry AND exit_code IN (0, 2)
   AND finished_at IS NOT NULL
   AND started_at > clock_timestamp() - make_interval(secs => :limit_seconds::text::double precision)
   AND started_at <= clock_timestamp()
   AND NOT EXISTS (SELECT FROM runs WHERE app_id = :app AND job = :job AND finished_at IS NULL)
 ORDER BY run_id DESC LIMIT 1
