-- Deletes a delivered notification, and makes the customer's next one for the same URL due.
--
-- :app      the app
-- :forward  its forward_id
-- :attempt  the attempt that delivered it; if another receiver has begun a later one, nothing changes
WITH gone AS (
    DELETE FROM forwards WHERE app_id = :app::integer AND forward_id = :forward::bigint AND attempts = :attempt::integer
    RETURNING customer, destination
)
UPDATE forwards n SET due_at = now()
  FROM (SELECT min(f.forward_id) AS forward_id
          FROM gone g JOIN forwards f ON f.app_id = :app AND f.customer = g.customer AND f.destination = g.destination
         WHERE f.forward_id > :forward AND f.given_up_at IS NULL) next
 WHERE n.app_id = :app AND n.forward_id = next.forward_id AND n.due_at > now()
