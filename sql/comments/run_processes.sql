COMMENT ON TABLE run_processes IS 'The processes that worked on each run, and on which host.';
COMMENT ON COLUMN run_processes.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN run_processes.run_id IS 'The run, in runs.';
COMMENT ON COLUMN run_processes.owner IS 'The random number of the process, as in crawl_items.lease_owner.';
COMMENT ON COLUMN run_processes.host IS 'The name of the host, as the host itself calls it.';
COMMENT ON COLUMN run_processes.process_id IS 'The number of the process on its host.';
COMMENT ON COLUMN run_processes.started_at IS 'When the process joined the run.';
COMMENT ON COLUMN run_processes.seen_at IS
    'When the process last reported, which it does every 15 seconds. A process that has not reported for a minute has probably been killed.';
COMMENT ON COLUMN run_processes.ended_at IS 'When the process left the run; NULL while it works, and if it was killed.';
