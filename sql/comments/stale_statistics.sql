COMMENT ON TABLE stale_statistics IS 'Tables from which an erasure has removed rows since their planner statistics were last updated.';
COMMENT ON COLUMN stale_statistics.stale_id IS 'StoreLedger''s number for the row.';
COMMENT ON COLUMN stale_statistics.table_name IS 'The name of the table.';
COMMENT ON COLUMN stale_statistics.since IS 'When the erasure began.';
COMMENT ON COLUMN stale_statistics.failure IS 'Why the last attempt to renew them failed; NULL before the first attempt.';
