COMMENT ON TABLE forwards IS
    'Received notifications that storeledger receive has still to post to the URLs of receiver.forward, and those that it gave up. A row is deleted when its notification is delivered.';
COMMENT ON COLUMN forwards.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN forwards.forward_id IS 'StoreLedger''s number for the row, in the order in which notifications were stored.';
COMMENT ON COLUMN forwards.destination IS 'The URL without its query.';
COMMENT ON COLUMN forwards.notification_uuid IS 'Apple''s notificationUUID.';
COMMENT ON COLUMN forwards.customer IS
    'The app transaction ID, or else the original transaction ID or the external purchase ID that the notification is about; its UUID if it is about none, and after it was given up. Notifications with the same value are delivered in order.';
COMMENT ON COLUMN forwards.stored_at IS 'When the notification was stored, by the database''s clock.';
COMMENT ON COLUMN forwards.due_at IS 'From when the notification can be posted; during an attempt, the end of the lease.';
COMMENT ON COLUMN forwards.attempts IS 'How often a receiver has begun to post it.';
COMMENT ON COLUMN forwards.last_error IS 'Why the last attempt failed, without the URL. NULL before the first failure.';
COMMENT ON COLUMN forwards.given_up_at IS 'When the notification was given up, 72 hours after it was stored. The row is deleted 30 days later. NULL while it is undelivered.';
COMMENT ON COLUMN forwards.body IS 'The body as Apple posted it. NULL once it is given up.';
