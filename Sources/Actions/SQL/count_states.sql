-- The rows of a batch by state; with :open only those that an erasure has not cleared, because nothing of the others can be sent.
SELECT state, count(*) AS rows FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND (NOT :open::boolean OR parameters IS NOT NULL) GROUP BY 1
