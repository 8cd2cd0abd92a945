-- Counts an unknown field or value. If an erasure removed the sample, the next sample replaces it.
INSERT INTO schema_drift AS d (app_id, kind, path, sample, seen_count, remark) VALUES (:app, :kind, :path, :sample, :count, :remark)
ON CONFLICT (app_id, kind, path) DO UPDATE SET
    last_seen_at = now(), seen_count = d.seen_count + excluded.seen_count, sample = coalesce(d.sample, excluded.sample),
    remark = excluded.remark
