-- The next texts of notifications without a transaction ID, which can contain IDs, in the order of `key`.
--
-- :after  the last key of the texts before; empty text at first
SELECT n.notification_uuid AS key, p.payload AS text, NULL::bytea AS detail
  FROM (SELECT n.notification_uuid FROM notifications n
         WHERE n.app_id = :app AND n.transaction_id IS NULL AND n.notification_uuid > :after
         ORDER BY n.notification_uuid LIMIT 50) n
  LEFT JOIN signed_payloads p ON p.app_id = :app AND p.kind = 'notification' AND p.record_key = n.notification_uuid
 ORDER BY n.notification_uuid
