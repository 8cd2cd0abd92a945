-- What happens to the content hash of a row that anything other than StoreLedger changes?

-- An update that leaves the hash and the time of the change as they are does not come from StoreLedger: it knows no hash of what it
-- wrote. StoreLedger itself leaves the hash when it adds a fact that the hashed signature leaves out.
CREATE OR REPLACE FUNCTION forget_content_hash() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.content_hash := NULL;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION forget_content_hash IS
    'Clears content_hash when anything other than StoreLedger changes a row, so that a replay compares the whole row.';

-- A run adds listed_transaction_id to a row of transactions without changing what the hash covers.
CREATE OR REPLACE TRIGGER forget_content_hash BEFORE UPDATE ON transactions FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash AND new.last_changed_at IS NOT DISTINCT FROM old.last_changed_at
          AND NOT (old.listed_transaction_id IS NULL AND new.listed_transaction_id IS NOT NULL)) EXECUTE FUNCTION forget_content_hash();
CREATE OR REPLACE TRIGGER forget_content_hash BEFORE UPDATE ON refunds FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash AND new.last_changed_at IS NOT DISTINCT FROM old.last_changed_at)
    EXECUTE FUNCTION forget_content_hash();
CREATE OR REPLACE TRIGGER forget_content_hash BEFORE UPDATE ON renewals FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();
CREATE OR REPLACE TRIGGER forget_content_hash BEFORE UPDATE ON notifications FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();
CREATE OR REPLACE TRIGGER forget_content_hash BEFORE UPDATE ON app_transactions FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash AND new.last_changed_at IS NOT DISTINCT FROM old.last_changed_at)
    EXECUTE FUNCTION forget_content_hash();

-- They also fire in sessions with session_replication_role = replica, where other triggers do not.
ALTER TABLE transactions ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE refunds ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE renewals ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE notifications ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE app_transactions ENABLE ALWAYS TRIGGER forget_content_hash;
