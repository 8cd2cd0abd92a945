-- The first :count rows that a batch will send, with the ID of the refused request that a row corrects.
SELECT position, parameters, consistency_token,
       CASE WHEN :keeps_refused_id::boolean THEN reusable_request_id(:app, :batch, position, subject, :action) END::text AS request_id
  FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND verdict = 'valid' AND parameters IS NOT NULL
 ORDER BY position LIMIT :count::bigint
