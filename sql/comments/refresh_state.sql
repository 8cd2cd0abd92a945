COMMENT ON TABLE refresh_state IS 'One row: what the tables refresh_stored_… and refresh_…_totals contain.';
COMMENT ON COLUMN refresh_state.is_only_row IS 'Always true.';
COMMENT ON COLUMN refresh_state.as_of IS 'The time of the ledger state that they contain. NULL before the first refresh.';
COMMENT ON COLUMN refresh_state.definitions IS
    'A hash of the definitions that they were computed with. If it is another, or NULL, the next refresh computes everything again. NULL, too, after a difference was found.';
COMMENT ON COLUMN refresh_state.purchases IS 'The number of subscriptions and other purchases in them.';
COMMENT ON COLUMN refresh_state.is_rebuild IS
    'Whether everything is being computed again. False, except inside the transaction of a refresh.';
COMMENT ON COLUMN refresh_state.milliseconds IS 'The duration of the last refresh, in milliseconds.';
COMMENT ON COLUMN refresh_state.failed_since IS 'Since when every refresh has failed; NULL if the last one succeeded.';
COMMENT ON COLUMN refresh_state.failure IS 'Why the last refresh failed; NULL if it succeeded.';
COMMENT ON COLUMN refresh_state.next_as_of IS 'The time as of which the running refresh or erasure counts new rows.';
