-- Marks notifications as normalised, in the transaction that has written their records. It removes notifications of erased customers.
--
-- :app     the app
-- :keys    the notifications
-- :erased  the notifications among them whose customer was erased
WITH removed AS (
    DELETE FROM received_notifications WHERE app_id = :app::integer AND notification_uuid = ANY (:erased::text[])
)
UPDATE received_notifications r
   SET normalised_at = clock_timestamp(), body = CASE WHEN r.version = 1 THEN r.body END
  FROM (SELECT k.key FROM unnest(:keys::text[]) AS k (key) OFFSET 0) w
 WHERE r.app_id = :app AND r.notification_uuid = w.key AND w.key <> ALL (:erased)
