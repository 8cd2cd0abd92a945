COMMENT ON TABLE schema_drift IS 'Unknown fields and enumeration values in Apple''s records.';
COMMENT ON COLUMN schema_drift.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN schema_drift.kind IS
    'The kind of record that contained the field: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN schema_drift.path IS
    'The path of the unknown field, or field=value for an unknown value of a known field. Dots enter objects, [] enters arrays.';
COMMENT ON COLUMN schema_drift.sample IS
    'One value as JSON text, at most 200 characters. Values that look like a UUID are masked. An erasure in the app sets it to NULL; it stays NULL until the field is received again.';
COMMENT ON COLUMN schema_drift.first_seen_at IS 'When StoreLedger first found it.';
COMMENT ON COLUMN schema_drift.last_seen_at IS 'When StoreLedger last found it.';
COMMENT ON COLUMN schema_drift.remark IS 'What is known of the field; NULL if nothing is.';
COMMENT ON COLUMN schema_drift.seen_count IS 'How often it was received.';
