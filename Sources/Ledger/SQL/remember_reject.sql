-- Adds the identity of a record that was just stored in rejected_records.
INSERT INTO quarantined_records (app_id, reason, identity, record_id)
SELECT app_id, reason, :identity::bytea, record_id FROM rejected_records
 WHERE app_id = :app::integer AND job = :job::text AND stream = :stream::text AND reason = :reason::text AND sha256 = :hash::bytea
ON CONFLICT (app_id, reason, identity) DO UPDATE SET record_id = excluded.record_id
