-- Gives up the oldest notifications whose term has ended, for every URL, also one that no job names any more. Nothing of the customer stays.
--
-- :app   the app
-- :term  since the notification was stored, in milliseconds
-- :most  how many
WITH old AS (
    SELECT f.forward_id FROM forwards f
     WHERE f.app_id = :app::integer AND f.given_up_at IS NULL AND f.stored_at < now() - :term::bigint * interval '1 millisecond'
     ORDER BY f.stored_at LIMIT :most::bigint FOR UPDATE SKIP LOCKED
)
UPDATE forwards f SET given_up_at = now(), body = NULL, customer = f.notification_uuid
  FROM old
 WHERE f.app_id = :app AND f.forward_id = old.forward_id
RETURNING f.destination
