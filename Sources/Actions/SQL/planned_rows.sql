-- The normalised rows of a batch in the order of the input, as the hash of the batch covers them.
--
-- An invalid row has no parameters. An erasure clears those of any other row.
SELECT position, parameters, parameters IS NULL AND verdict <> 'invalid' AS is_cleared
  FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND position > :after
 ORDER BY position LIMIT :count::bigint
