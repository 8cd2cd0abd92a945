-- Which processes work on a run, and on which hosts?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_run_processes WITH (security_barrier) AS
SELECT
    app_id, run_id, host, process_id, started_at, seen_at, ended_at
FROM run_processes;
COMMENT ON VIEW masked_run_processes IS 'Processes of runs for analysts: the rows of run_processes without the random number of each process.';
