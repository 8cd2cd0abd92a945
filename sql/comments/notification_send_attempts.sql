COMMENT ON TABLE notification_send_attempts IS
    'Apple''s attempts to deliver a notification to the app''s server. Apple does not sign them.';
COMMENT ON COLUMN notification_send_attempts.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN notification_send_attempts.notification_uuid IS 'Apple''s notificationUUID of the notification.';
COMMENT ON COLUMN notification_send_attempts.attempt_date IS 'Apple''s attemptDate: when Apple tried to deliver the notification.';
COMMENT ON COLUMN notification_send_attempts.send_attempt_result IS 'Apple''s sendAttemptResult: SUCCESS, or the reason for the failure.';
COMMENT ON COLUMN notification_send_attempts.read_at IS
    'When StoreLedger first read the attempt of a notification that Apple had not delivered by then, or read it again after Apple had stopped trying. NULL if the delivery had succeeded, and for attempts stored before StoreLedger recorded this time.';
