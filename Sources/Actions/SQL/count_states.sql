-- The rows of a batch by state.
SELECT state, count(*) AS rows FROM action_rows WHERE app_id = :app AND batch_id = :batch GROUP BY 1
