-- How reliably does the app's server accept Apple's notifications?
--
-- One row for each app_id, day, notification_type.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW notification_health_by_day AS
SELECT
    app_id, day, notification_type, notifications, delivered, delivered_at_once, retrying, not_known_yet, never_received,
    unknown, attempts, failed_attempts, median_time_to_success, longest_time_to_success
FROM refresh_stored_notification_days;
COMMENT ON VIEW notification_health_by_day IS
    'Results of Apple''s deliveries, by notification type and the day Apple signed the notification. As of the last refresh.';
COMMENT ON COLUMN notification_health_by_day.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN notification_health_by_day.day IS 'The day of Apple''s signature, in UTC.';
COMMENT ON COLUMN notification_health_by_day.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_health_by_day.notifications IS 'Notifications that Apple signed on the day.';
COMMENT ON COLUMN notification_health_by_day.delivered IS 'Notifications that the server accepted.';
COMMENT ON COLUMN notification_health_by_day.delivered_at_once IS 'Notifications that the server accepted at the first attempt.';
COMMENT ON COLUMN notification_health_by_day.retrying IS 'Notifications whose attempts have all failed and whose next attempt is due later.';
COMMENT ON COLUMN notification_health_by_day.not_known_yet IS 'Notifications whose attempts had failed when they were read, and that Apple has tried to deliver again since.';
COMMENT ON COLUMN notification_health_by_day.never_received IS 'Notifications that Apple stopped retrying: their attempts were read after that, and none had succeeded.';
COMMENT ON COLUMN notification_health_by_day.unknown IS 'Notifications without a known attempt.';
COMMENT ON COLUMN notification_health_by_day.attempts IS 'Known attempts to deliver these notifications.';
COMMENT ON COLUMN notification_health_by_day.failed_attempts IS 'Known attempts that failed.';
COMMENT ON COLUMN notification_health_by_day.median_time_to_success IS 'Median time from Apple''s signature to the first accepted attempt, for delivered notifications.';
COMMENT ON COLUMN notification_health_by_day.longest_time_to_success IS 'Longest time from Apple''s signature to the first accepted attempt.';
