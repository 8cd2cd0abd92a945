-- Which customers had themselves erased, so that no later crawl brings them back?
--
-- A tombstone is the HMAC-SHA256 of one of the customer's IDs. The key lies beside it in the database: a crawl on any
-- machine must recognise the customer, and a key that got lost outside would let every one of them back in silence.
-- So tombstones are pseudonymous, not anonymous: whoever reads both tables can ask whether an ID he knows was erased,
-- and transaction IDs can be tried one after another. They say nothing else, and match nothing outside this ledger.
--
-- storeledger erase needs: SELECT, INSERT on apps, erasure_keys, erased_marks; SELECT, DELETE on transactions, refunds,
-- renewals, notifications, notification_send_attempts, advanced_commerce_items, advanced_commerce_refunds,
-- signed_payloads, field_issues, rejected_records, crawl_items, coverage_gaps; SELECT, UPDATE, DELETE on schema_drift;
-- SELECT, UPDATE on runs; SELECT on schema_migrations; EXECUTE on erasure_key; TEMPORARY on the database; and to write
-- the CSV files again, SELECT on the tables the job publishes.
-- storeledger run and replay need SELECT on erasure_keys, SELECT and INSERT on erased_marks, and EXECUTE on erasure_key.

CREATE TABLE erasure_keys (
    app_id integer NOT NULL REFERENCES apps,
    key bytea NOT NULL CHECK (length(key) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id)
);
COMMENT ON TABLE erasure_keys IS 'The key of each app''s tombstones; only an app that erased somebody has one.';
COMMENT ON COLUMN erasure_keys.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN erasure_keys.key IS
    'Thirty-two random bytes; without them the tombstones recognise nobody.';
COMMENT ON COLUMN erasure_keys.created_at IS
    'When the app first erased a customer.';

CREATE TABLE erased_marks (
    app_id integer NOT NULL REFERENCES apps,
    mark bytea NOT NULL CHECK (length(mark) = 32),
    erased_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, mark)
);
COMMENT ON TABLE erased_marks IS 'Tombstones of erased customers: a record that carries one of these IDs is never stored again.';
COMMENT ON COLUMN erased_marks.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN erased_marks.mark IS
    'HMAC-SHA256, with the app''s key, of "transaction ", "appTransaction " or "account " and the ID.';
COMMENT ON COLUMN erased_marks.erased_at IS
    'When the ID was erased, or first met again on a record of an erased customer.';

-- Ways from one record of a customer to the others; a customer's rows arrive together, so both grow at one place.
CREATE INDEX transactions_app_transaction_id ON transactions (app_id, app_transaction_id);
CREATE INDEX transactions_listed_transaction_id ON transactions (app_id, listed_transaction_id);
CREATE INDEX renewals_app_transaction_id ON renewals (app_id, app_transaction_id);
-- Notifications that no transaction leads to: about the app itself, or quoting a record that was not believed.
CREATE INDEX notifications_without_transaction ON notifications (app_id, app_transaction_id) WHERE transaction_id IS NULL;

ALTER TABLE crawl_items ADD COLUMN records_withheld integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN crawl_items.records_withheld IS 'Records of erased customers that came in this run and were not stored.';
ALTER TABLE runs ADD COLUMN records_withheld bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN runs.records_withheld IS 'Records of erased customers that came and were not stored.';
ALTER TABLE runs ADD COLUMN withheld_ids bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN runs.withheld_ids IS 'Listed IDs of erased customers, which were not asked for.';

-- Holds off erasures of the app until the end of the transaction, then says whether anybody was ever erased.
--
-- Lock first, then look: the second statement sees what an erasure committed that the first one waited for. An erasure
-- takes the same lock for itself alone, so a record is either there when the erasure looks, or meets its tombstone.
CREATE FUNCTION erasure_key(p_app_id integer) RETURNS bytea LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('storeledger erasure ' || p_app_id, 0));
    RETURN (SELECT k.key FROM erasure_keys k WHERE k.app_id = p_app_id);
END $$;

COMMENT ON FUNCTION erasure_key IS 'Holds off erasures of the app for this transaction; its tombstone key, or NULL when nobody was erased.';
