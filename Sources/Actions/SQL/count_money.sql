-- What the valid rows of a batch give away, by currency.
SELECT currency, count(*) AS rows, sum(stake_milliunits)::bigint AS milliunits FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND verdict = 'valid' AND stake_milliunits IS NOT NULL AND currency IS NOT NULL
 GROUP BY 1 ORDER BY 1
