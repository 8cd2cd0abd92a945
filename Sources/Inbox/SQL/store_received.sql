-- Stores verified notifications, and counts those that are known.
--
-- One statement stores all of them in one durable commit. Keys are inserted in order, so that two receivers
-- with the same notifications do not deadlock.
--
-- :app       the app
-- :received  the notifications, each key once, as pg_temp.stage_received
INSERT INTO received_notifications AS r (
    app_id, notification_uuid, version, notification_type, subtype, signed_date, original_transaction_id,
    received_at, last_received_at, receipts, body, body_sha256
)
SELECT :app::integer, s.notification_uuid, s.version, s.notification_type, s.subtype, s.signed_date, s.original_transaction_id,
       statement_timestamp(), statement_timestamp(), s.receipts, s.body, s.body_sha256
  FROM unnest(:received::pg_temp.stage_received[]) s
 ORDER BY s.notification_uuid COLLATE "C"
ON CONFLICT (app_id, notification_uuid) DO UPDATE
   SET receipts = r.receipts + excluded.receipts, last_received_at = excluded.last_received_at
RETURNING notification_uuid, receipts, body_sha256
