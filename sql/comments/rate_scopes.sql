COMMENT ON TABLE rate_scopes IS 'One row per app and endpoint. Every request of every machine takes its permit here.';
COMMENT ON COLUMN rate_scopes.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN rate_scopes.endpoint IS 'transactionHistory, refundHistory or notificationHistory.';
COMMENT ON COLUMN rate_scopes.closed_until IS 'Apple answered 429; no process sends requests before this time.';
COMMENT ON COLUMN rate_scopes.last_now IS 'The latest clock reading used. The time of the rate ledger never goes back.';
COMMENT ON COLUMN rate_scopes.next_at IS 'The earliest time of the next request at an even pace.';
COMMENT ON COLUMN rate_scopes.kept_for IS 'How long buckets are kept: the longest window any job ever asked with, and its margin.';
COMMENT ON COLUMN rate_scopes.server IS
    'The database server that last granted requests; see ledger_server(). A different server assumes that rows were lost.';
COMMENT ON COLUMN rate_scopes.least_unit IS
    'The shortest time between two requests that any job has ever used: the fastest pace at which lost rows can have been written.';
COMMENT ON COLUMN rate_scopes.share IS 'The share of each job''s pace that applied after the last 429: 0.05 to 1.';
COMMENT ON COLUMN rate_scopes.share_at IS 'When share was set. Each sixth of a window without a 429 since then restores a twentieth.';
