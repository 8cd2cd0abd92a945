-- Records that Apple no longer serves the beginning of the time to read.
INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
VALUES (:app, :job, :stream, 'app', :starts_at, :ends_at, 'Apple no longer serves notifications this old', :run)
ON CONFLICT (app_id, job, stream, item_key, gap_start)
DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
