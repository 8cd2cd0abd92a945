-- Replaces a notification by another content that Apple signed later under the same UUID.
--
-- The newer content is normalised again, so that the newest one is in the ledger.
--
-- :body_hash  body_sha256; the other parameters as the columns of received_notifications
UPDATE received_notifications r
   SET notification_type = :notification_type::text, subtype = :subtype::text, signed_date = :signed_date::timestamptz,
       original_transaction_id = :original_transaction_id::text, body = :body::text, body_sha256 = :body_hash::bytea,
       normalised_at = NULL
 WHERE r.app_id = :app::integer AND r.notification_uuid = :notification_uuid::text AND r.signed_date < :signed_date
