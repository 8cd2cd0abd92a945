-- Whether a record was rejected before, in any job, stream and run, and is not resolved.
--
-- A reject that is older than the table quarantined_records is identified only by its bytes.
SELECT EXISTS (SELECT FROM quarantined_records q JOIN rejected_records r USING (app_id, record_id)
                WHERE q.app_id = :app::integer AND q.reason = :reason::text AND q.identity = :identity::bytea AND r.resolved_at IS NULL)
    OR EXISTS (SELECT FROM rejected_records
                WHERE app_id = :app AND job = :job::text AND stream = :stream::text AND sha256 = :hash::bytea AND reason = :reason
                  AND resolved_at IS NULL) AS known
