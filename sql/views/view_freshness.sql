-- How old is what the materialised views show?
CREATE OR REPLACE VIEW view_freshness AS
SELECT v.name AS view, v.refreshed_at, v.refresh_milliseconds, v.row_count
FROM schema_views v
WHERE v.is_materialized;
COMMENT ON VIEW view_freshness IS
    'The materialised views and when they were last refreshed: by storeledger run, replay, erase, migrate or refresh. All other views show the ledger as it is.';
COMMENT ON COLUMN view_freshness.view IS 'The view''s name.';
COMMENT ON COLUMN view_freshness.refreshed_at IS 'The moment of the ledger that the view shows.';
COMMENT ON COLUMN view_freshness.refresh_milliseconds IS 'How long that refresh took.';
COMMENT ON COLUMN view_freshness.row_count IS 'How many rows it made.';
