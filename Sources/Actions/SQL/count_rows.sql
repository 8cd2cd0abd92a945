-- Counts the rows of a batch by verdict and rule.
SELECT verdict, coalesce(rule, '') AS rule, count(*) AS rows, min(reason) AS example FROM action_rows
 WHERE app_id = :app AND batch_id = :batch GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
