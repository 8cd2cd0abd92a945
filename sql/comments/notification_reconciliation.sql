COMMENT ON TABLE notification_reconciliation IS
    'What storeledger reconcile found: the notifications that the receiver stored, compared with Apple''s notification history, by closed day and type.';
COMMENT ON COLUMN notification_reconciliation.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN notification_reconciliation.day IS 'The day of Apple''s signature, in UTC.';
COMMENT ON COLUMN notification_reconciliation.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_reconciliation.received IS 'Notifications of version 2 that the receiver stored and verified.';
COMMENT ON COLUMN notification_reconciliation.in_history IS
    'Notifications of Apple''s history that were received, or that Apple tried to deliver to the receiver.';
COMMENT ON COLUMN notification_reconciliation.received_and_in_history IS 'Notifications that were received and are in the history.';
COMMENT ON COLUMN notification_reconciliation.recovered IS
    'Notifications that Apple could not deliver, and that runs loaded from the history.';
COMMENT ON COLUMN notification_reconciliation.recovered_by_result IS
    'The number of recovered notifications by Apple''s sendAttemptResult of the last attempt, such as {"TIMED_OUT": 2}.';
COMMENT ON COLUMN notification_reconciliation.answered_but_missing IS
    'Notifications that the server answered with success, and that the receiver does not have: they were lost here. Runs loaded them from the history.';
COMMENT ON COLUMN notification_reconciliation.to_be_read_again IS
    'Notifications that were received and are not in the history, before the day was read again.';
COMMENT ON COLUMN notification_reconciliation.unexplained IS
    'Notifications that were received and are not in the history, also after the day was read again.';
COMMENT ON COLUMN notification_reconciliation.unprovable IS
    'Notifications that were received and are not in the history, of days that Apple did not serve any more when they were checked.';
COMMENT ON COLUMN notification_reconciliation.not_listed_since IS
    'When a check first found notifications that are not in the history; NULL if there are none.';
COMMENT ON COLUMN notification_reconciliation.checked_at IS 'When the day was last checked.';
