-- Which seats has Apple taken back?
--
-- One row for each app_id, notification_uuid, seat_claim_id. Source: unclaimInfo, App Store Server Notifications 2.23, read 2026-11.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW unclaimed_seats AS
SELECT n.app_id, n.notification_uuid, lower(u.seat_claim_id) AS seat_claim_id, n.signed_date AS unclaimed_at
  FROM notifications n CROSS JOIN LATERAL unnest(n.unclaim_seat_ids) AS u (seat_claim_id)
 WHERE n.notification_type = 'UNCLAIM_SEATS';
COMMENT ON VIEW unclaimed_seats IS
    'Seat claims that Apple has ended, by UNCLAIM_SEATS notifications. The members who had these seats lose access.';
COMMENT ON COLUMN unclaimed_seats.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN unclaimed_seats.notification_uuid IS 'The notification.';
COMMENT ON COLUMN unclaimed_seats.seat_claim_id IS 'The seat claim, in lower case.';
COMMENT ON COLUMN unclaimed_seats.unclaimed_at IS 'When Apple signed the notification; the seat was already taken back.';
