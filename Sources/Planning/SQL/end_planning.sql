-- Moves a run on from its planning to its first phase; the row count says whether it did.
--
-- If it did not, another process has moved the run on, or the run was superseded.
UPDATE runs SET phase = :phase, listed_ids = :listed, duplicate_ids = :duplicates, withheld_ids = :withheld,
       empty_lists = :empty_lists, unreadable_receipts = :unreadable_receipts
 WHERE app_id = :app AND run_id = :run AND phase = -1 AND finished_at IS NULL
