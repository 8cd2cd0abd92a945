-- Starts an export of changes, again if there is one.
INSERT INTO change_exports (app_id, job, format, tables) VALUES (:app, :job, :format, :tables)
ON CONFLICT (app_id, job, format) DO UPDATE SET tables = excluded.tables, server = ledger_server(),
    started_in = pg_current_xact_id(), part = NULL, snapshot = NULL, next_part = NULL, next_snapshot = NULL
