COMMENT ON TABLE received_notifications IS
    'Notifications that Apple posted to storeledger receive; one row for each, however often it came.';
COMMENT ON COLUMN received_notifications.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN received_notifications.notification_uuid IS
    'Apple''s notificationUUID. For version 1, which has none, ''v1-'' and the SHA-256 of the notification without its password. For a refused one ''refused-'' and the SHA-256 of its text.';
COMMENT ON COLUMN received_notifications.version IS '2, signed by Apple, or 1, which is not signed and never becomes a record.';
COMMENT ON COLUMN received_notifications.notification_type IS
    'Apple''s notificationType (version 1: notification_type). Of a refused notification it is only what the text claims.';
COMMENT ON COLUMN received_notifications.subtype IS 'Apple''s subtype.';
COMMENT ON COLUMN received_notifications.signed_date IS
    'When Apple signed the notification. NULL for version 1 and for a refused notification.';
COMMENT ON COLUMN received_notifications.original_transaction_id IS
    'The purchase that the notification is about, as Apple signed it; for version 1 as the text says. NULL if it is about none.';
COMMENT ON COLUMN received_notifications.received_at IS 'When the notification was first received, by the database''s clock.';
COMMENT ON COLUMN received_notifications.last_received_at IS 'When it was last received.';
COMMENT ON COLUMN received_notifications.receipts IS 'How often it was received. Apple repeats a notification whose answer it did not get.';
COMMENT ON COLUMN received_notifications.refused_because IS
    'Why the notification is not accepted, as in rejected_records.reason, or password, no_secret or conflict. NULL for an accepted one.';
COMMENT ON COLUMN received_notifications.body IS
    'The signedPayload until the notification is normalised; NULL afterwards. For version 1 a part of the text, without password and receipts. For a refused notification the text, at most 256 KiB.';
COMMENT ON COLUMN received_notifications.body_sha256 IS
    'SHA-256 of the signed payload, by which a second content under the same UUID is recognised; otherwise of the text.';
COMMENT ON COLUMN received_notifications.normalised_at IS
    'When the notification became records; for version 1, when its customer was marked as changed. NULL while that is due, and for a refused notification.';
