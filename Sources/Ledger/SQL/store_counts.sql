-- Writes a run's counts to its row, unless the run is already finished; the other parameters are named after columns.
--
-- :is_over  whether the run is finished now
UPDATE runs SET exit_code = :exit_code, message = :message, items = :items, items_failed = :items_failed,
       pages = :pages, requests = :requests,
       rows_new = :rows_new, rows_updated = :rows_updated,
       rows_unchanged = :rows_unchanged, records_rejected = :records_rejected, gaps = :gaps,
       records_withheld = :records_withheld,
       finished_at = CASE WHEN :is_over::boolean THEN clock_timestamp() END
 WHERE app_id = :app AND run_id = :run AND finished_at IS NULL
