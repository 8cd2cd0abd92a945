-- Replaces a notification by another content that Apple signed later under the same UUID.
--
-- The newer content is normalised again, so that the newest one is in the ledger. A content that has not become records is kept as a
-- conflict, like an older one that arrives later.
--
-- :body_hash  body_sha256; the other parameters are named after columns of received_notifications
WITH held AS (
    SELECT r.* FROM received_notifications r
     WHERE r.app_id = :app::integer AND r.notification_uuid = :notification_uuid::text AND r.signed_date < :signed_date::timestamptz
       FOR UPDATE
), kept AS (
    INSERT INTO received_notifications (
        app_id, notification_uuid, version, notification_type, original_transaction_id, received_at, last_received_at,
        refused_because, body, body_sha256
    )
    SELECT app_id, 'refused-' || encode(body_sha256, 'hex'), version, notification_type, original_transaction_id, received_at,
           last_received_at, 'conflict', body, body_sha256
      FROM held WHERE normalised_at IS NULL
        ON CONFLICT DO NOTHING
    RETURNING notification_uuid, body
)
UPDATE received_notifications r
   SET notification_type = :notification_type::text, subtype = :subtype::text, signed_date = :signed_date,
       original_transaction_id = :original_transaction_id::text, body = :body::text, body_sha256 = :body_hash::bytea,
       normalised_at = NULL
  FROM held
 WHERE r.app_id = held.app_id AND r.notification_uuid = held.notification_uuid
RETURNING (SELECT k.notification_uuid FROM kept k) AS kept_key, (SELECT k.body FROM kept k) AS kept_body
