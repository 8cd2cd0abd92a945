-- Which deliveries has Apple given up, and which notifications entered Apple's history late?
--
-- Apple retries a failed delivery for up to 157 hours. What was read before that is not final.

-- No row is rewritten: rows from before this migration were read when their notification was first seen.
ALTER TABLE notification_send_attempts ADD COLUMN read_at timestamptz;
COMMENT ON COLUMN notification_send_attempts.read_at IS
    'Of a notification that Apple had not delivered by then: when the attempt was first read, or read again after Apple had given up; NULL where the delivery had succeeded, and for attempts from before this was noted.';

ALTER TABLE notifications ADD COLUMN late_run_id bigint;
COMMENT ON COLUMN notifications.late_run_id IS
    'The run that found the notification with the second reading of its day, in runs: it entered Apple''s history after the day had been read; NULL for all others.';

COMMENT ON COLUMN crawl_items.item_key IS
    'The transaction ID; or, for the notifications of the whole app, the window as two UNIX milliseconds with ".." between, and a mark of its filters, with "+second" after it for the second reading of a closed day; or "failures#" and the mark for the failed deliveries of the last seven days.';
