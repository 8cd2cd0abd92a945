-- Which notifications has the app's server never received, or possibly not yet received?
--
-- The query starts with the few notifications that have a failed attempt and no success, so that it does not scan all.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW undelivered_notifications AS
SELECT
    d.app_id, d.notification_uuid, d.notification_type, d.subtype, d.signed_date, d.transaction_id,
    d.original_transaction_id, d.state, d.attempts, d.last_attempt_at, d.last_failure,
    CASE WHEN d.state <> 'never received' AND d.first_attempt_at + interval '157 hours' > now()
         THEN d.first_attempt_at + interval '157 hours' END AS retried_until
FROM (
    SELECT DISTINCT f.app_id, f.notification_uuid FROM notification_send_attempts f
     WHERE f.send_attempt_result IS DISTINCT FROM 'SUCCESS'
       AND NOT EXISTS (SELECT FROM notification_send_attempts s
                        WHERE s.app_id = f.app_id AND s.notification_uuid = f.notification_uuid AND s.send_attempt_result = 'SUCCESS')
) failed
JOIN notification_deliveries d ON d.app_id = failed.app_id AND d.notification_uuid = failed.notification_uuid
WHERE d.state IN ('retrying', 'not known yet', 'never received');
COMMENT ON VIEW undelivered_notifications IS
    'Notifications with attempts and no known success. Apple will not send notifications in state never received again, so the app''s server needs their content from another source. The others may have arrived since their attempts were read. Their content is in masked_notifications, and in the transactions and renewals that they contained.';
COMMENT ON COLUMN undelivered_notifications.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN undelivered_notifications.notification_uuid IS 'Apple''s notificationUUID: identifies the notification.';
COMMENT ON COLUMN undelivered_notifications.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN undelivered_notifications.subtype IS 'Apple''s subtype: details of the type.';
COMMENT ON COLUMN undelivered_notifications.signed_date IS 'When Apple signed the notification.';
COMMENT ON COLUMN undelivered_notifications.state IS 'retrying: Apple''s next attempt is due later. not known yet: Apple has made another attempt since the attempts were read. never received: the attempts were read after Apple stopped retrying.';
COMMENT ON COLUMN undelivered_notifications.attempts IS 'Apple''s known attempts to deliver the notification.';
COMMENT ON COLUMN undelivered_notifications.last_attempt_at IS 'When Apple made its last known attempt.';
COMMENT ON COLUMN undelivered_notifications.last_failure IS 'Apple''s sendAttemptResult of the last known attempt.';
COMMENT ON COLUMN undelivered_notifications.retried_until IS 'The time until which Apple can retry: 157 hours after the first attempt. NULL after that.';
