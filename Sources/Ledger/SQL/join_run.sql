-- Records that a process works on a run.
INSERT INTO run_processes (app_id, run_id, owner, host, process_id) VALUES (:app, :run, :owner, :host, :process)
ON CONFLICT (app_id, run_id, owner) DO UPDATE SET seen_at = clock_timestamp()
