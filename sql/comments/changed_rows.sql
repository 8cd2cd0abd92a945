COMMENT ON TABLE changed_rows IS 'The keys of rows that changed since the last parts of the change exports. Empty without such an export.';
COMMENT ON COLUMN changed_rows.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN changed_rows.table_name IS 'The table.';
COMMENT ON COLUMN changed_rows.key IS
    'The primary key as texts, without app_id. The key of a deleted row stays until the next part is published.';
COMMENT ON COLUMN changed_rows.changed_in IS 'The transaction that changed the row.';
