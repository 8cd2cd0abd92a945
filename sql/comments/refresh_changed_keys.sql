COMMENT ON TABLE refresh_changed_keys IS
    'The keys of records that changed since the last refresh of the views. Triggers append them, and a refresh removes them.';
COMMENT ON COLUMN refresh_changed_keys.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN refresh_changed_keys.kind IS
    'purchase: an original transaction ID, or a transaction ID without one. transaction: a transaction ID, or the UUID of a notification without one. notification: a UUID. day: a day of notifications, in UTC. product: a product ID. again: an original transaction ID of which Apple only signed the renewal info, or gave the status, again.';
COMMENT ON COLUMN refresh_changed_keys.key IS 'The key.';
COMMENT ON COLUMN refresh_changed_keys.written_by IS 'The transaction that changed the record.';
