-- Marks a batch as finished if no row of it is left to send.
--
-- A row with an unknown outcome does not prevent that.
UPDATE action_batches SET finished_at = clock_timestamp()
 WHERE app_id = :app AND batch_id = :batch AND finished_at IS NULL
   AND NOT EXISTS (SELECT FROM action_rows WHERE app_id = :app AND batch_id = :batch
                      AND (claimable_at IS NOT NULL OR state IN ('planned', 'approved', 'sending')))
