-- Takes the notifications that are due for one URL, at most one of each customer, until the lease ends.
--
-- Rows that another receiver has taken are skipped. After a kill they are free when their lease has ended. OFFSET 0 keeps the planner from joining
-- the whole table with itself: a server that is down for days leaves many rows, of which each call takes a few.
--
-- :app          the app
-- :destination  the URL without its query
-- :most         how many to take
-- :lease        in milliseconds
WITH due AS (
    SELECT f.forward_id FROM forwards f
     WHERE f.app_id = :app::integer AND f.destination = :destination::text AND f.given_up_at IS NULL AND f.due_at <= now()
       AND NOT EXISTS (SELECT FROM forwards e
                        WHERE e.app_id = f.app_id AND e.customer = f.customer AND e.destination = f.destination
                          AND e.forward_id < f.forward_id AND e.given_up_at IS NULL OFFSET 0)
     ORDER BY f.due_at, f.forward_id LIMIT :most::bigint FOR UPDATE SKIP LOCKED
)
UPDATE forwards f SET attempts = f.attempts + 1, due_at = now() + :lease::bigint * interval '1 millisecond'
  FROM due
 WHERE f.app_id = :app AND f.forward_id = due.forward_id
RETURNING f.forward_id, f.notification_uuid, f.attempts, f.body
