-- Which records do Apple's other read endpoints return: app transactions, subscription statuses and orders?
--
-- App transactions are signed, so they have newest snapshots like transactions. The status of a subscription and the result
-- of an order lookup are not signed: the newest answer is kept, with the time at which Apple gave it. Their signed records
-- are in transactions and renewals.

CREATE TABLE app_transactions (
    app_id integer NOT NULL REFERENCES apps,
    app_transaction_id text NOT NULL,
    bundle_id text,
    app_apple_id bigint,
    receipt_type text,
    application_version text,
    version_external_identifier bigint,
    receipt_creation_date timestamptz,
    original_purchase_date timestamptz,
    original_application_version text,
    original_platform text,
    preorder_date timestamptz,
    device_verification text,
    device_verification_nonce uuid,
    store_type text,
    signed_date timestamptz NOT NULL,
    payload_sha256 bytea NOT NULL,
    payload jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz DEFAULT now(),
    last_run_id bigint,
    content_hash bytea,
    PRIMARY KEY (app_id, app_transaction_id)
);
COMMENT ON TABLE app_transactions IS 'The download or purchase of the app itself, by customer: the newest verified app transaction by signed_date.';
COMMENT ON COLUMN app_transactions.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN app_transactions.app_transaction_id IS
    'Apple''s appTransactionId: the customer''s Apple Account for this app, the same in each of the customer''s transactions.';
COMMENT ON COLUMN app_transactions.bundle_id IS
    'The app''s bundle ID.';
COMMENT ON COLUMN app_transactions.app_apple_id IS
    'The app''s Apple ID in the App Store; NULL in the sandbox.';
COMMENT ON COLUMN app_transactions.receipt_type IS
    'The environment that signed the app transaction: Production or Sandbox.';
COMMENT ON COLUMN app_transactions.application_version IS
    'The version of the app that the app transaction was created for.';
COMMENT ON COLUMN app_transactions.version_external_identifier IS
    'Apple''s number of that version of the app.';
COMMENT ON COLUMN app_transactions.receipt_creation_date IS
    'When Apple signed the app transaction: the receiptCreationDate.';
COMMENT ON COLUMN app_transactions.original_purchase_date IS
    'When the customer first bought or downloaded the app.';
COMMENT ON COLUMN app_transactions.original_application_version IS
    'The version that the customer first bought or downloaded: CFBundleShortVersionString on macOS, CFBundleVersion elsewhere.';
COMMENT ON COLUMN app_transactions.original_platform IS
    'The platform on which the customer first got the app: iOS, macOS, tvOS or visionOS.';
COMMENT ON COLUMN app_transactions.preorder_date IS
    'When the customer ordered the app before its release; NULL if it was no pre-order.';
COMMENT ON COLUMN app_transactions.device_verification IS
    'Apple''s device verification value: with the nonce it ties an app transaction to one device.';
COMMENT ON COLUMN app_transactions.device_verification_nonce IS
    'The nonce of deviceVerification.';
COMMENT ON COLUMN app_transactions.store_type IS
    'Apple''s storeType, of API 1.22 and later.';
COMMENT ON COLUMN app_transactions.signed_date IS
    'When Apple first signed this content of the app transaction; a later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN app_transactions.payload_sha256 IS
    'SHA-256 of the verified payload bytes, which identifies this snapshot.';
COMMENT ON COLUMN app_transactions.payload IS
    'The whole verified payload, with every field that has no column.';
COMMENT ON COLUMN app_transactions.first_seen_at IS
    'When StoreLedger first stored this record.';
COMMENT ON COLUMN app_transactions.last_changed_at IS
    'When a newer snapshot last replaced the row.';
COMMENT ON COLUMN app_transactions.last_run_id IS
    'The run that last wrote the row.';
COMMENT ON COLUMN app_transactions.content_hash IS
    'Eight bytes of a SHA-256 of what StoreLedger wrote into the row, except the date of the signature; NULL once anything else has changed it.';

CREATE TRIGGER forget_content_hash BEFORE UPDATE ON app_transactions FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash) EXECUTE FUNCTION forget_content_hash();
ALTER TABLE app_transactions ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE app_transactions ALTER COLUMN payload SET STATISTICS 0, ALTER COLUMN payload_sha256 SET STATISTICS 0,
    ALTER COLUMN content_hash SET STATISTICS 0;

CREATE TABLE subscription_statuses (
    app_id integer NOT NULL REFERENCES apps,
    original_transaction_id text NOT NULL,
    subscription_group_identifier text,
    status integer NOT NULL,
    transaction_id text NOT NULL,
    asked_at timestamptz NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz NOT NULL DEFAULT now(),
    last_run_id bigint,
    PRIMARY KEY (app_id, original_transaction_id)
);
COMMENT ON TABLE subscription_statuses IS 'Apple''s own status of each subscription, from Get All Subscription Statuses.';
COMMENT ON COLUMN subscription_statuses.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN subscription_statuses.original_transaction_id IS
    'The subscription: the ID of its first transaction.';
COMMENT ON COLUMN subscription_statuses.subscription_group_identifier IS
    'Apple''s identifier of the subscription group.';
COMMENT ON COLUMN subscription_statuses.status IS
    'Apple''s status: 1 active, 2 expired, 3 in billing retry, 4 in the grace period, 5 revoked.';
COMMENT ON COLUMN subscription_statuses.transaction_id IS
    'The newest transaction of the subscription, in transactions.';
COMMENT ON COLUMN subscription_statuses.asked_at IS
    'When Apple answered, by the database''s clock; the newest answer is kept.';
COMMENT ON COLUMN subscription_statuses.first_seen_at IS
    'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN subscription_statuses.last_changed_at IS
    'When an answer last differed from the one before.';
COMMENT ON COLUMN subscription_statuses.last_run_id IS
    'The run that last wrote the row.';

CREATE TABLE orders (
    app_id integer NOT NULL REFERENCES apps,
    order_id text NOT NULL,
    status integer NOT NULL,
    asked_at timestamptz NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz NOT NULL DEFAULT now(),
    last_run_id bigint,
    PRIMARY KEY (app_id, order_id)
);
COMMENT ON TABLE orders IS 'The result of each order lookup.';
COMMENT ON COLUMN orders.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN orders.order_id IS
    'The order ID, as in the customer''s receipt from Apple.';
COMMENT ON COLUMN orders.status IS
    'Apple''s status of the lookup: 0 valid, 1 invalid.';
COMMENT ON COLUMN orders.asked_at IS
    'When Apple answered, by the database''s clock; the newest answer is kept.';
COMMENT ON COLUMN orders.first_seen_at IS
    'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN orders.last_changed_at IS
    'When an answer last differed from the one before.';
COMMENT ON COLUMN orders.last_run_id IS
    'The run that last wrote the row.';

CREATE TABLE order_transactions (
    app_id integer NOT NULL REFERENCES apps,
    order_id text NOT NULL,
    transaction_id text NOT NULL,
    PRIMARY KEY (app_id, order_id, transaction_id)
);
COMMENT ON TABLE order_transactions IS 'Which transactions an order has; they are in transactions.';
COMMENT ON COLUMN order_transactions.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN order_transactions.order_id IS
    'The order, in orders.';
COMMENT ON COLUMN order_transactions.transaction_id IS
    'A transaction of the order, in transactions.';

-- An erasure finds the orders of a customer by their transactions.
CREATE INDEX order_transactions_transaction_id ON order_transactions (app_id, transaction_id);

-- An app transaction has no transaction ID. An erasure finds it by the listed ID that Apple answered it for.
ALTER TABLE quoted_ids DROP CONSTRAINT quoted_ids_owner_kind_check,
    ADD CONSTRAINT quoted_ids_owner_kind_check CHECK (owner_kind IN ('rejected', 'notification', 'appTransaction'));
COMMENT ON COLUMN quoted_ids.owner_kind IS
    'rejected: a row of rejected_records; notification: a notification without a transaction ID; appTransaction: an app transaction.';
COMMENT ON COLUMN quoted_ids.owner_key IS 'record_id, notification_uuid or app_transaction_id.';

-- The roles that load and erase other records can load and erase these.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.relnamespace = runs.relnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE statement;
    END LOOP;
    FOR statement IN
        WITH granted AS (
            SELECT c.relname AS name, a.privilege_type AS privilege, a.grantee
              FROM pg_class c, aclexplode(c.relacl) a
             WHERE c.relnamespace = current_schema()::regnamespace AND a.grantee <> c.relowner AND a.grantee <> 0
        ), work (does, name, privilege) AS (
            VALUES ('load', 'runs', 'INSERT'), ('erase', 'transactions', 'DELETE')
        ), wanted (does, rights) AS (
            VALUES ('load', 'SELECT, INSERT, UPDATE ON app_transactions'),
                   ('load', 'SELECT, INSERT, UPDATE ON subscription_statuses'),
                   ('load', 'SELECT, INSERT, UPDATE ON orders'),
                   ('load', 'SELECT, INSERT, DELETE ON order_transactions'),
                   ('erase', 'SELECT, DELETE ON app_transactions'), ('erase', 'SELECT, DELETE ON subscription_statuses'),
                   ('erase', 'SELECT, DELETE ON orders'), ('erase', 'SELECT, DELETE ON order_transactions')
        )
        SELECT DISTINCT format('GRANT %s TO %I', rights, pg_get_userbyid(grantee))
          FROM granted JOIN work USING (name, privilege) JOIN wanted USING (does)
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
