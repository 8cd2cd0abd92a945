-- Writes a batch with the counts of its rows; parameters are named after columns.
--
-- :approval_column and :approval_value stand for the column approval_required and false for a batch that needs no approval, and else
-- for nothing: not every role may write the column, so it has its default then; see sql/roles.sql.
INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_name, input_sha256,
       input_columns, row_count, rows_to_send, rows_invalid, rows_ineligible, rows_duplicate, rows_same,
       policy_sha256, parameters_sha256, salted_sha256 :approval_column)
SELECT :app::integer, :batch::uuid, :job::text, :action::text, :rows_hash::text, :occurrence::bigint,
       :input_name::text, :input_hash::text, :input_columns::text[], count(*),
       count(*) FILTER (WHERE verdict = 'valid'), count(*) FILTER (WHERE verdict = 'invalid'),
       count(*) FILTER (WHERE verdict = 'ineligible'), count(*) FILTER (WHERE verdict = 'duplicate'),
       count(*) FILTER (WHERE verdict = 'same'),
       :policy_hash::text, :parameters_hash::text, :salted_hash::text :approval_value
  FROM action_rows WHERE app_id = :app AND batch_id = :batch
