-- Resolves the rejects of earlier answers. :hashes has their SHA-256 as hexadecimal text.
--
-- Rows are selected by ctid: the tables are never partitioned.
WITH resolved AS (
    UPDATE rejected_records SET resolved_at = now(), dismissed_at = NULL WHERE ctid = ANY (ARRAY(
        SELECT r.place FROM unnest(:hashes::text[]) AS w (hash), LATERAL (
            SELECT r.ctid AS place FROM rejected_records r
             WHERE r.app_id = :app::integer AND r.job = :job::text AND r.stream = :stream::text
               AND r.sha256 = decode(w.hash, 'hex') AND r.resolved_at IS NULL OFFSET 0) r))
    RETURNING reason, identity
)
UPDATE quarantined_records SET dismissed_at = NULL WHERE ctid = ANY (ARRAY(
    SELECT q.place FROM resolved, LATERAL (
        SELECT q.ctid AS place FROM quarantined_records q
         WHERE q.app_id = :app AND q.reason = resolved.reason AND q.identity = resolved.identity
           AND q.dismissed_at IS NOT NULL OFFSET 0) q))
