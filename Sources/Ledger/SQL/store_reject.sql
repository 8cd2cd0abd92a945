-- Stores a rejected record. The result is the ID of the written row; no row if nothing was written.
--
-- Each run counts a record once, even if it reads the page several times. raw and detail are from the newest run. A record whose
-- identity is dismissed is dismissed as well.
INSERT INTO rejected_records AS r (app_id, job, stream, item_key, reason, detail, sha256, raw, run_id, identity, dismissed_at)
VALUES (:app::integer, :job::text, :stream, :item, :reason::text, :detail, :hash, :raw, :run, :identity::bytea,
        (SELECT q.dismissed_at FROM quarantined_records q WHERE q.app_id = :app AND q.reason = :reason AND q.identity = :identity))
ON CONFLICT (app_id, job, stream, sha256, reason)
DO UPDATE SET last_seen_at = now(), seen_count = r.seen_count + 1, run_id = excluded.run_id, resolved_at = NULL,
    detail = excluded.detail, raw = excluded.raw, identity = excluded.identity,
    dismissed_at = coalesce(r.dismissed_at, excluded.dismissed_at)
 WHERE r.run_id IS DISTINCT FROM excluded.run_id OR r.resolved_at IS NOT NULL
RETURNING r.record_id::text AS record_id
