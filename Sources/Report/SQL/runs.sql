-- title: Last runs
-- section: operations
-- means: What each of the job's last 14 runs brought; exit code 0 is complete, 2 that data is missing, 75 stopped with work left.
-- docs: ../reference/exit-codes.md
-- nothing: The job has never run.
-- views: masked_runs
-- flags: plain
-- column: run | text | Run
-- column: started | moment | Began, UTC
-- column: seconds | seconds | Took
-- column: exit_code | text | Exit code
-- column: requests | count | Requests
-- column: rows_new | count | New rows
-- column: rows_updated | count | Updated rows
-- column: rejected | count | Records rejected
-- column: failed | count | Items failed
-- column: gaps | count | Gaps
-- draw: bars rows_new/0 rows_updated/2
SELECT run_id::text AS run, to_char(started_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started,
       round(extract(epoch FROM finished_at - started_at))::bigint AS seconds, exit_code::text AS exit_code,
       requests, rows_new, rows_updated, records_rejected AS rejected, items_failed AS failed, gaps
  FROM masked_runs WHERE app_id = :app AND job = :job ORDER BY run_id DESC LIMIT 14
