-- Marks notifications as normalised, in the transaction that has written their records.
--
-- :app     the app
-- :keys    the notifications
-- :erased  the notifications among them whose customer was erased
UPDATE received_notifications r
   SET normalised_at = clock_timestamp(),
       body = CASE WHEN r.version = 1 AND r.notification_uuid <> ALL (:erased::text[]) THEN r.body END,
       original_transaction_id = CASE WHEN r.notification_uuid <> ALL (:erased) THEN r.original_transaction_id END
  FROM (SELECT k.key FROM unnest(:keys::text[]) AS k (key) OFFSET 0) w
 WHERE r.app_id = :app::integer AND r.notification_uuid = w.key
