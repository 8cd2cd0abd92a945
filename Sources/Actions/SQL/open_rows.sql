-- Makes the rows of a batch available: those that were never sent, and those with an unknown outcome that a request can still find out.
--
-- Rows that another process holds are not changed.
UPDATE action_rows SET claimable_at = clock_timestamp(),
       state = CASE state WHEN 'planned' THEN 'approved' ELSE state END
 WHERE app_id = :app AND batch_id = :batch AND claimable_at IS NULL AND parameters IS NOT NULL AND ended_at IS NULL
   AND state IN ('planned', 'approved', 'sending', 'unknown', 'confirming')
