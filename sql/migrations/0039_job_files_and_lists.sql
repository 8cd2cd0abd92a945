-- Did a run have an ID list without an ID, such as a CSV file of which an export wrote only the header?
--
-- Such a run loads nothing for the list and would otherwise look complete.
ALTER TABLE runs ADD COLUMN IF NOT EXISTS empty_lists integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN runs.empty_lists IS 'ID lists of the job that had no ID. The run ends with 2 if there is one.';

-- Which job file did a run read? Two files with the same job name and other streams would take turns in starting all items again.
ALTER TABLE runs ADD COLUMN IF NOT EXISTS job_file text;
ALTER TABLE runs ADD COLUMN IF NOT EXISTS job_host text;
ALTER TABLE runs ADD COLUMN IF NOT EXISTS streams_fingerprint text;
COMMENT ON COLUMN runs.streams_fingerprint IS 'Identifies the streams of the run with their filters; fingerprint also covers the source of the IDs.';
COMMENT ON COLUMN runs.job_file IS 'The absolute path of the job file of the run.';
COMMENT ON COLUMN runs.job_host IS 'The machine whose file it is.';
