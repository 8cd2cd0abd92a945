-- What the rows of a batch are now: the hash that its approval names, the hash of the salted rows, whether an erasure has cleared a row, and the
-- first row that is not as it was planned.
--
-- An erasure removes the salt, the values and the input, and leaves the hash. A row without a hash was added later.
SELECT encode(sha256(convert_to(:identity::text, 'UTF8') || coalesce(string_agg(r.plain, '' ORDER BY r.position), '')), 'hex') AS rows_sha256,
       encode(sha256(coalesce(string_agg(coalesce(r.salted_sha256, ''), '' ORDER BY r.position), '')), 'hex') AS salted_sha256,
       coalesce(bool_or(r.is_erased), false) AS has_erased,
       min(r.position) FILTER (WHERE NOT r.is_erased AND r.is_unchanged IS NOT TRUE) AS changed_position
  FROM (
      SELECT x.position, x.salted_sha256, x.salt IS NULL AND x.parameters IS NULL AND x.input = '{}' AND x.salted_sha256 IS NOT NULL AS is_erased,
             salted_row_sha256(NULL, x.position, x.verdict, NULL, x.subject, x.parameters, x.stake_milliunits, x.currency, x.expires_date_before,
                               x.transaction_id_before, x.send_by, x.consistency_token, x.request_reference_id_before) AS plain,
             x.salted_sha256 = salted_row_sha256(x.salt, x.position, x.verdict, x.input, x.subject, x.parameters, x.stake_milliunits, x.currency,
                                                 x.expires_date_before, x.transaction_id_before, x.send_by, x.consistency_token,
                                                 x.request_reference_id_before) AS is_unchanged
        FROM action_rows x WHERE x.app_id = :app AND x.batch_id = :batch
  ) r
