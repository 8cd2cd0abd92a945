COMMENT ON TABLE erasure_keys IS 'The key of each app''s tombstones. An app has a row once it has erased a customer.';
COMMENT ON COLUMN erasure_keys.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN erasure_keys.key IS 'Thirty-two random bytes. Without the key, tombstones cannot be matched to any ID.';
COMMENT ON COLUMN erasure_keys.created_at IS 'When a customer of the app was erased for the first time.';
