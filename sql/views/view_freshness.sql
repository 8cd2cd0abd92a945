-- How old are the figures of each view that shows sums?
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW view_freshness AS
SELECT v.name AS view, CASE WHEN s.definitions IS NOT NULL THEN s.as_of END AS refreshed_at, s.milliseconds AS refresh_milliseconds,
       s.failed_since
FROM schema_views v
CROSS JOIN refresh_state s
WHERE v.shows_last_refresh AND v.name NOT LIKE 'refresh\_%';
COMMENT ON VIEW view_freshness IS
    'The views that show the ledger as of its last refresh by storeledger run, replay, erase, migrate or refresh, and the time of that refresh. All other views show the current state of the ledger.';
COMMENT ON COLUMN view_freshness.view IS 'The view''s name.';
COMMENT ON COLUMN view_freshness.refreshed_at IS 'The time of the ledger state that the view shows, one for all views. NULL if the next refresh computes everything, because nothing is computed yet, a definition changed or a table was truncated.';
COMMENT ON COLUMN view_freshness.refresh_milliseconds IS 'The duration of that refresh, of all views together, in milliseconds.';
COMMENT ON COLUMN view_freshness.failed_since IS 'Since when every refresh has failed, so that the figures stay as of refreshed_at. NULL if the last one succeeded.';
