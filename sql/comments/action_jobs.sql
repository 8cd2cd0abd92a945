COMMENT ON TABLE action_jobs IS 'The jobs with an action; the row is locked while the job is approved, withdrawn, removed, or plans answers.';
COMMENT ON COLUMN action_jobs.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_jobs.job IS 'The name of the job.';
