-- When was the ledger last updated, and how complete is it?
--
-- Readers: loader, exporter, analyst.
CREATE OR REPLACE VIEW masked_runs WITH (security_barrier) AS
SELECT
    app_id, run_id, job, phase, frozen_now, started_at, finished_at, exit_code, version, restarted, listed_ids,
    duplicate_ids, items, items_failed, pages, requests, rows_new, rows_updated, rows_unchanged, records_rejected,
    gaps, records_withheld, withheld_ids, followed_until, server, trusted_roots, stopped_for_rejects_at, is_retry,
    refunds_followed_until, empty_lists, customers_since, unreadable_receipts
FROM runs;
COMMENT ON VIEW masked_runs IS 'Runs for analysts: the rows of runs without messages, because messages can quote records that could not be loaded.';
