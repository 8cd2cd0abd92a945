-- Keeps or counts a notification that is refused, unless the app has enough of them.
--
-- The length of a text is read from its header, so the sum reads no text.
--
-- :most_rows and :most_bytes  how much an app keeps
-- :body_hash                body_sha256; the others are named after columns of received_notifications
INSERT INTO received_notifications AS r (
    app_id, notification_uuid, version, notification_type, original_transaction_id, received_at, last_received_at,
    refused_because, body, body_sha256
)
SELECT :app::integer, :notification_uuid::text, :version::integer, :notification_type::text, :original_transaction_id::text,
       statement_timestamp(), statement_timestamp(), :refused_because::text, :body::text, :body_hash::bytea
 WHERE EXISTS (SELECT FROM received_notifications k WHERE k.app_id = :app AND k.notification_uuid = :notification_uuid)
    OR (SELECT count(*) < :most_rows::bigint
               AND coalesce(sum(octet_length(q.body)), 0) + octet_length(:body) <= :most_bytes::bigint
          FROM received_notifications q WHERE q.app_id = :app AND q.refused_because IS NOT NULL)
ON CONFLICT (app_id, notification_uuid) DO UPDATE
   SET receipts = r.receipts + 1, last_received_at = excluded.last_received_at, refused_because = excluded.refused_because
RETURNING r.receipts
