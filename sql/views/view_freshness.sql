-- How old are the rows of the materialised views?
CREATE OR REPLACE VIEW view_freshness AS
SELECT v.name AS view, v.refreshed_at, v.refresh_milliseconds, v.row_count
FROM schema_views v
WHERE v.is_materialized;
COMMENT ON VIEW view_freshness IS
    'The materialised views and the time of their last refresh by storeledger run, replay, erase, migrate or refresh. All other views show the current state of the ledger.';
COMMENT ON COLUMN view_freshness.view IS 'The view''s name.';
COMMENT ON COLUMN view_freshness.refreshed_at IS 'The time of the ledger state that the view shows.';
COMMENT ON COLUMN view_freshness.refresh_milliseconds IS 'The duration of that refresh, in milliseconds.';
COMMENT ON COLUMN view_freshness.row_count IS 'The number of rows after that refresh.';
