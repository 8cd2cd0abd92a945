-- Records a period that Apple no longer serves and the ledger lacks.
INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
VALUES (:app, :job, :stream, :item_key, :starts_at, :ends_at, :reason, :run)
ON CONFLICT (app_id, job, stream, item_key, gap_start)
DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
