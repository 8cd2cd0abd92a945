-- Is a row still what StoreLedger wrote, so that a replay need not compare it column by column?
--
-- A replay of a ledger that has lost nothing used to send every row whole, for PostgreSQL to read it once more and to find
-- that it is the same: more than half of what PostgreSQL did for it. It sends hashes now, and the rows whose hash is another.
-- Rows of before have none, and are compared whole.
ALTER TABLE transactions ADD COLUMN content_hash bytea;
ALTER TABLE refunds ADD COLUMN content_hash bytea;
ALTER TABLE renewals ADD COLUMN content_hash bytea;
ALTER TABLE notifications ADD COLUMN content_hash bytea;
COMMENT ON COLUMN transactions.content_hash IS
    'Eight bytes of the SHA-256 of what StoreLedger wrote into the row; NULL once anything else has changed it.';
COMMENT ON COLUMN refunds.content_hash IS
    'Eight bytes of the SHA-256 of what StoreLedger wrote into the row; NULL once anything else has changed it.';
COMMENT ON COLUMN renewals.content_hash IS
    'Eight bytes of the SHA-256 of what StoreLedger wrote into the row; NULL once anything else has changed it.';
COMMENT ON COLUMN notifications.content_hash IS
    'Eight bytes of the SHA-256 of what StoreLedger wrote into the row; NULL once anything else has changed it.';

-- An update that leaves the hash as it is does not come from StoreLedger: it knows no hash of what it wrote.
CREATE FUNCTION forget_content_hash() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.content_hash := NULL;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION forget_content_hash IS
    'Has a replay compare a row whole that something else than StoreLedger has changed.';
CREATE TRIGGER forget_content_hash BEFORE UPDATE ON transactions FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();
CREATE TRIGGER forget_content_hash BEFORE UPDATE ON refunds FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();
CREATE TRIGGER forget_content_hash BEFORE UPDATE ON renewals FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();
CREATE TRIGGER forget_content_hash BEFORE UPDATE ON notifications FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();

-- Repairs by hand are often made with session_replication_role = replica, which lets other triggers rest. To a subscriber of
-- logical replication it is all one: where the hash came as NULL, it stays NULL.
ALTER TABLE transactions ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE refunds ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE renewals ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE notifications ENABLE ALWAYS TRIGGER forget_content_hash;
