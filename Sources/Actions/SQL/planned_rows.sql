-- The normalised rows of a batch in the order of the input, as the hash of the batch covers them, and whether each is as it was planned.
--
-- A row that is invalid, or that a policy does not answer, has no parameters. An erasure removes the salt, the parameters and the input.
-- A row of an earlier version has no salt either, so that is_unchanged is NULL.
SELECT position, parameters, salted_sha256, salt IS NULL AND parameters IS NULL AND input = '{}' AS is_erased,
       salted_sha256 = salted_row_sha256(salt, position, verdict, input, subject, parameters, consistency_token) AS is_unchanged
  FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND position > :after
 ORDER BY position LIMIT :count::bigint
