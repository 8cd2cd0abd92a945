-- Postpones a notification that was not delivered, with the customer's later ones for the same URL, which have to wait for it.
--
-- :app      the app
-- :forward  its forward_id
-- :attempt  the failed attempt; if another receiver has begun a later one, nothing changes
-- :delay    in milliseconds
-- :error    the reason
WITH failed AS (
    UPDATE forwards SET due_at = now() + :delay::bigint * interval '1 millisecond', last_error = :error::text
     WHERE app_id = :app::integer AND forward_id = :forward::bigint AND attempts = :attempt::integer AND given_up_at IS NULL
    RETURNING customer, destination, due_at
)
UPDATE forwards n SET due_at = failed.due_at
  FROM failed
 WHERE n.app_id = :app AND n.customer = failed.customer AND n.destination = failed.destination AND n.forward_id > :forward
   AND n.given_up_at IS NULL AND n.due_at < failed.due_at
