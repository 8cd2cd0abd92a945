-- Did a run have an ID list without an ID, such as a CSV file of which an export wrote only the header?
--
-- Such a run loads nothing for the list and would otherwise look complete.
ALTER TABLE runs ADD COLUMN IF NOT EXISTS empty_lists integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN runs.empty_lists IS 'ID lists of the job that had no ID. The run ends with 2 if there is one.';
