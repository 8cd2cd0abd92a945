COMMENT ON TABLE jobs IS 'The jobs that have begun a run. A process locks the row while it begins, joins or retries a run.';
COMMENT ON COLUMN jobs.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN jobs.job IS 'The job''s name.';
COMMENT ON COLUMN jobs.first_run_at IS 'When its first run began.';
