-- The job's last runs.
SELECT run_id::text AS run, to_char(started_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started,
       round(extract(epoch FROM finished_at - started_at))::bigint AS seconds, exit_code::text AS exit_code,
       requests, rows_new, rows_updated, records_rejected AS rejected, items_failed AS failed, gaps
  FROM masked_runs WHERE app_id = :app AND job = :job ORDER BY run_id DESC LIMIT 14
