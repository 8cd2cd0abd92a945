-- Did the receiver get every notification that Apple sent?
--
-- One row for each app_id, day, notification_type.
-- Readers: loader, exporter, actor, receiver, analyst.
CREATE OR REPLACE VIEW notification_completeness_by_day AS
SELECT
    app_id, day, notification_type, received, in_history, received_and_in_history, recovered, recovered_by_result::text,
    answered_but_missing, to_be_read_again, unexplained, unprovable, checked_at,
    answered_but_missing + to_be_read_again + unexplained + unprovable = 0 AS is_proven
FROM notification_reconciliation;
COMMENT ON VIEW notification_completeness_by_day IS
    'The notifications that the receiver stored, compared with Apple''s notification history, by notification type and the day Apple signed the notification. As of the last storeledger reconcile that checked the day.';
COMMENT ON COLUMN notification_completeness_by_day.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN notification_completeness_by_day.day IS 'The day of Apple''s signature, in UTC.';
COMMENT ON COLUMN notification_completeness_by_day.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_completeness_by_day.received IS 'Notifications that the receiver stored and verified.';
COMMENT ON COLUMN notification_completeness_by_day.in_history IS
    'Notifications of Apple''s history that were received, or that Apple tried to deliver to the receiver.';
COMMENT ON COLUMN notification_completeness_by_day.received_and_in_history IS 'Notifications that were received and are in the history.';
COMMENT ON COLUMN notification_completeness_by_day.recovered IS
    'Notifications that Apple could not deliver, and that runs loaded from the history.';
COMMENT ON COLUMN notification_completeness_by_day.recovered_by_result IS
    'The number of recovered notifications by Apple''s sendAttemptResult of the last attempt, as JSON, such as {"TIMED_OUT": 2}.';
COMMENT ON COLUMN notification_completeness_by_day.answered_but_missing IS
    'Notifications that the server answered with success, and that the receiver does not have: they were lost, and then loaded from the history.';
COMMENT ON COLUMN notification_completeness_by_day.to_be_read_again IS
    'Notifications that were received and are not in the history; the next run reads the day again.';
COMMENT ON COLUMN notification_completeness_by_day.unexplained IS
    'Notifications that were received and are not in the history, also after the day was read again.';
COMMENT ON COLUMN notification_completeness_by_day.unprovable IS
    'Notifications that were received and are not in the history, of days that Apple did not serve any more when they were checked.';
COMMENT ON COLUMN notification_completeness_by_day.checked_at IS 'When the day was last checked.';
COMMENT ON COLUMN notification_completeness_by_day.is_proven IS
    'Whether every received notification is in the history, and every notification of the history was received or could not be delivered.';
