-- Since when do the views lag behind the ledger, and which statistics could not be renewed?
ALTER TABLE refresh_state ADD COLUMN failed_since timestamptz, ADD COLUMN failure text;
ALTER TABLE stale_statistics ADD COLUMN failure text;

-- Rows go with their rejected record, so the statistics must not keep what came from it. Naming the type again drops those that
-- are there.
ALTER TABLE quarantined_records ALTER COLUMN identity TYPE bytea, ALTER COLUMN identity SET STATISTICS 0;
