COMMENT ON TABLE retention_progress IS 'How far the removal of old records has come; a row for each app and key of the section retention.';
COMMENT ON COLUMN retention_progress.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN retention_progress.part IS
    'The key of the job file: archive (signed_payloads) or sendAttempts (notification_send_attempts).';
COMMENT ON COLUMN retention_progress.place IS 'The key after which the next call begins; empty texts at the beginning of the table.';
