-- What does notification_health_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of notification_health_by_day.
CREATE OR REPLACE VIEW refresh_notification_health_by_day_from_scratch AS
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
GROUP BY app_id, (signed_date AT TIME ZONE 'UTC')::date, notification_type;
