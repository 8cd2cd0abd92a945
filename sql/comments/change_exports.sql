COMMENT ON TABLE change_exports IS 'The exports with changes: true, and what their published parts show.';
COMMENT ON COLUMN change_exports.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN change_exports.job IS 'The name of the job.';
COMMENT ON COLUMN change_exports.format IS 'The format of the files: csv or parquet.';
COMMENT ON COLUMN change_exports.tables IS 'The exported tables. With other tables, the export starts again.';
COMMENT ON COLUMN change_exports.server IS
    'The server and its timeline, see ledger_server(). Transaction numbers mean nothing on another one.';
COMMENT ON COLUMN change_exports.started_in IS
    'The transaction that started the export. Changes of earlier transactions may not be in changed_rows.';
COMMENT ON COLUMN change_exports.part IS 'The identifier of the last published part; NULL before the first.';
COMMENT ON COLUMN change_exports.snapshot IS 'The database snapshot of the last published part; NULL before the first.';
COMMENT ON COLUMN change_exports.next_part IS 'The identifier of a part that is being published; NULL otherwise.';
COMMENT ON COLUMN change_exports.next_snapshot IS 'The database snapshot of a part that is being published; NULL otherwise.';
