COMMENT ON TABLE field_issues IS 'Known fields with an unexpected type or range, whose column is NULL, and facts of a purchase that the newest signature leaves out, whose column keeps the known value. The row is loaded.';
COMMENT ON COLUMN field_issues.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN field_issues.kind IS
    'The kind of record that contained the field: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN field_issues.record_key IS
    'The record''s key: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.';
COMMENT ON COLUMN field_issues.path IS 'The path of the field: dots enter objects, [n] enters arrays.';
COMMENT ON COLUMN field_issues.found IS 'What was found and what is expected.';
COMMENT ON COLUMN field_issues.signed_date IS 'When Apple signed the snapshot that contained the field.';
COMMENT ON COLUMN field_issues.first_seen_at IS 'When StoreLedger first found it.';
COMMENT ON COLUMN field_issues.last_seen_at IS 'When StoreLedger last found it.';
