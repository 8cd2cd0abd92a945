-- Approves a batch; the row count says whether it was not approved yet.
--
-- :rows               the rows that may be sent
-- :term_milliseconds  how long the approval is in force
UPDATE action_batches SET approved_rows = :rows, approved_at = clock_timestamp(),
       approval_expires_at = clock_timestamp() + :term_milliseconds::bigint * interval '1 millisecond'
 WHERE app_id = :app AND batch_id = :batch AND approved_at IS NULL
