-- Did each notification reach the app's server, after how many attempts and how long?
--
-- Apple tries again 1, 12, 24, 48 and 72 hours after the attempt before, in production; then it gives up, 157 hours after the
-- first. What was read before that says nothing about later attempts: such a notification counts as never received only once
-- its attempts have been read after Apple gave up. Until then the next attempt either is still to come, or took place and is
-- not known.
CREATE OR REPLACE VIEW notification_deliveries AS
SELECT
    n.app_id, n.notification_uuid, n.notification_type, n.subtype, n.signed_date,
    n.transaction_id, n.original_transaction_id,
    a.attempts, a.failed_attempts, a.first_attempt_at, a.last_attempt_at, a.delivered_at,
    a.delivered_at - n.signed_date AS time_to_success,
    a.last_failure,
    CASE
        WHEN a.attempts = 0 THEN 'unknown'
        WHEN a.delivered_at IS NOT NULL THEN 'delivered'
        WHEN apps.environment <> 'Production' OR a.attempts >= 6
             -- Attempts from before their reading was noted were read when the notification was first seen.
             OR coalesce(a.read_at, n.first_seen_at) >= a.first_attempt_at + interval '157 hours' THEN 'never received'
        WHEN a.last_attempt_at + (ARRAY[1, 12, 24, 48, 72])[a.attempts] * interval '1 hour' > now() THEN 'retrying'
        ELSE 'not known yet'
    END AS state
FROM notifications n
JOIN apps ON apps.app_id = n.app_id
CROSS JOIN LATERAL (
    SELECT
        count(*) AS attempts,
        count(*) FILTER (WHERE s.send_attempt_result IS DISTINCT FROM 'SUCCESS') AS failed_attempts,
        min(s.attempt_date) AS first_attempt_at,
        max(s.attempt_date) AS last_attempt_at,
        min(s.attempt_date) FILTER (WHERE s.send_attempt_result = 'SUCCESS') AS delivered_at,
        (array_agg(s.send_attempt_result ORDER BY s.attempt_date DESC)
            FILTER (WHERE s.send_attempt_result IS DISTINCT FROM 'SUCCESS'))[1] AS last_failure,
        max(s.read_at) AS read_at
      FROM notification_send_attempts s
     WHERE s.app_id = n.app_id AND s.notification_uuid = n.notification_uuid
) a;
COMMENT ON VIEW notification_deliveries IS
    'Every notification and how its delivery to the app''s own server went, as Apple last told; Apple does not sign this. A nightly job reads failed deliveries of the last seven days again, and each day as a whole once more seven days after it closed.';
COMMENT ON COLUMN notification_deliveries.app_id IS 'The app, in apps.';
COMMENT ON COLUMN notification_deliveries.notification_uuid IS 'Apple''s notificationUUID: names the notification.';
COMMENT ON COLUMN notification_deliveries.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_deliveries.subtype IS 'Apple''s subtype, which narrows the type.';
COMMENT ON COLUMN notification_deliveries.signed_date IS 'When Apple signed the notification.';
COMMENT ON COLUMN notification_deliveries.attempts IS 'Apple''s attempts to deliver it that are known.';
COMMENT ON COLUMN notification_deliveries.failed_attempts IS 'How many of them failed.';
COMMENT ON COLUMN notification_deliveries.first_attempt_at IS 'When Apple first tried.';
COMMENT ON COLUMN notification_deliveries.last_attempt_at IS 'When Apple last tried.';
COMMENT ON COLUMN notification_deliveries.delivered_at IS 'When the server first accepted it; NULL when no such attempt is known.';
COMMENT ON COLUMN notification_deliveries.time_to_success IS 'From Apple''s signature to the first accepted attempt.';
COMMENT ON COLUMN notification_deliveries.last_failure IS 'Apple''s sendAttemptResult of the last attempt that failed.';
COMMENT ON COLUMN notification_deliveries.state IS
    'delivered; retrying (every attempt so far failed and Apple''s next one is still to come); not known yet (Apple has tried again since the attempts were read); never received (read after Apple had given up, which it does 157 hours after the first attempt); unknown when no attempt is known.';
