-- Takes the oldest notifications that are not normalised, until the transaction ends.
--
-- Rows that another receiver has taken are skipped. After a kill they are free at once.
--
-- :app      the app
-- :skipped  notifications that could not be stored and wait for a person
-- :most     how many to take
SELECT notification_uuid, version, original_transaction_id, body, received_at, signed_date
  FROM received_notifications
 WHERE app_id = :app::integer AND normalised_at IS NULL AND refused_because IS NULL
   AND notification_uuid <> ALL (:skipped::text[])
 ORDER BY received_at LIMIT :most::bigint FOR UPDATE SKIP LOCKED
