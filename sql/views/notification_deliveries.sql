-- Did each notification reach the app's server, after how many attempts and how long?
--
-- In production, Apple retries 1, 12, 24, 48 and 72 hours after the previous attempt. It stops 157 hours after the first
-- attempt. Attempts that were read earlier do not show later ones. So a notification counts as never received only if its
-- attempts were read after Apple stopped. Until then, the next attempt is either due later, or has happened and is unknown.
--
-- Readers: loader, exporter, actor, analyst.
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
             -- Attempts without a read_at were read when the notification was first stored.
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
    'Every notification and the state of its delivery to the app''s server, as last read from Apple. Apple does not sign this information. A nightly job reads the failed deliveries of the last seven days again, and it reads each whole day again seven days after the day closed.';
COMMENT ON COLUMN notification_deliveries.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN notification_deliveries.notification_uuid IS 'Apple''s notificationUUID: identifies the notification.';
COMMENT ON COLUMN notification_deliveries.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_deliveries.subtype IS 'Apple''s subtype: details of the type.';
COMMENT ON COLUMN notification_deliveries.signed_date IS 'When Apple signed the notification.';
COMMENT ON COLUMN notification_deliveries.attempts IS 'Apple''s known attempts to deliver the notification.';
COMMENT ON COLUMN notification_deliveries.failed_attempts IS 'The number of failed attempts.';
COMMENT ON COLUMN notification_deliveries.first_attempt_at IS 'When Apple made its first known attempt.';
COMMENT ON COLUMN notification_deliveries.last_attempt_at IS 'When Apple made its last known attempt.';
COMMENT ON COLUMN notification_deliveries.delivered_at IS 'When the server first accepted the notification. NULL if no such attempt is known.';
COMMENT ON COLUMN notification_deliveries.time_to_success IS 'Time from Apple''s signature to the first accepted attempt.';
COMMENT ON COLUMN notification_deliveries.last_failure IS 'Apple''s sendAttemptResult of the last attempt that failed.';
COMMENT ON COLUMN notification_deliveries.state IS
    'delivered. retrying: every attempt so far failed, and Apple''s next attempt is due later. not known yet: Apple has made another attempt since the attempts were read. never received: the attempts were read after Apple stopped retrying, which is 157 hours after the first attempt. unknown: no attempt is known.';
