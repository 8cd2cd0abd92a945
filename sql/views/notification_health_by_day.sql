-- How reliably does the app's server take Apple's notifications?
CREATE MATERIALIZED VIEW IF NOT EXISTS notification_health_by_day AS
SELECT
    app_id, (signed_date AT TIME ZONE 'UTC')::date AS day, notification_type,
    count(*) AS notifications,
    count(*) FILTER (WHERE state = 'delivered') AS delivered,
    count(*) FILTER (WHERE state = 'delivered' AND failed_attempts = 0) AS delivered_at_once,
    count(*) FILTER (WHERE state = 'retrying') AS retrying,
    count(*) FILTER (WHERE state = 'not known yet') AS not_known_yet,
    count(*) FILTER (WHERE state = 'never received') AS never_received,
    count(*) FILTER (WHERE state = 'unknown') AS unknown,
    sum(attempts)::bigint AS attempts,
    sum(failed_attempts)::bigint AS failed_attempts,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_success) AS median_time_to_success,
    max(time_to_success) AS longest_time_to_success
FROM notification_deliveries
GROUP BY app_id, (signed_date AT TIME ZONE 'UTC')::date, notification_type
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS notification_health_by_day_key
    ON notification_health_by_day (app_id, day, notification_type) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW notification_health_by_day IS
    'How Apple''s deliveries went, by the day Apple signed the notification and by its type; as of the last refresh.';
COMMENT ON COLUMN notification_health_by_day.app_id IS 'The app, in apps.';
COMMENT ON COLUMN notification_health_by_day.day IS 'The day of Apple''s signature, in UTC.';
COMMENT ON COLUMN notification_health_by_day.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_health_by_day.notifications IS 'Notifications of the day.';
COMMENT ON COLUMN notification_health_by_day.delivered IS 'How many the server accepted at last.';
COMMENT ON COLUMN notification_health_by_day.delivered_at_once IS 'How many it accepted at the first attempt.';
COMMENT ON COLUMN notification_health_by_day.retrying IS 'How many failed so far and have Apple''s next attempt still to come.';
COMMENT ON COLUMN notification_health_by_day.not_known_yet IS 'How many failed when they were read, and were tried again since.';
COMMENT ON COLUMN notification_health_by_day.never_received IS 'How many Apple gave up: no success was among their attempts when they were read after that.';
COMMENT ON COLUMN notification_health_by_day.unknown IS 'How many have no known attempt.';
COMMENT ON COLUMN notification_health_by_day.attempts IS 'Attempts to deliver them.';
COMMENT ON COLUMN notification_health_by_day.failed_attempts IS 'Attempts that failed.';
COMMENT ON COLUMN notification_health_by_day.median_time_to_success IS 'From Apple''s signature to the first accepted attempt, the middle one of those delivered.';
COMMENT ON COLUMN notification_health_by_day.longest_time_to_success IS 'The longest of them.';
