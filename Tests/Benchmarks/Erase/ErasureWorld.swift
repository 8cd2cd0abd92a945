/// A ledger of many customers, made by SQL straight into the tables of a migrated, empty schema.
struct ErasureWorld {
    let customers: Int

    /// Customers whose rows are many; the first ones.
    static let heavyCustomers = 3
    /// Transactions of one of them.
    static let heavyTransactions = 1_000
    /// Notifications of one of them, for each transaction.
    static let heavyNotifications = 5
    /// Transactions of everybody else.
    static let transactions = 3
    /// Notifications of everybody else, for each transaction.
    static let notifications = 4

    /// Every notification in the ledger.
    var notificationCount: Int {
        (customers - Self.heavyCustomers) * Self.transactions * Self.notifications
            + Self.heavyCustomers * Self.heavyTransactions * Self.heavyNotifications
    }

    /// The n-th customer's first transaction, and listed ID; from 1.
    static func transactionID(of customer: Int) -> String {
        String(2_000_000_000_000_000 + customer * 10_000)
    }

    /// Indexes are made at the end, as they would be after a restore: an index grown row by row takes ten times as long.
    ///
    /// The settings end with the transaction: the same session measures afterwards, with the ledger's own.
    ///
    /// One customer in ten was met by a text that was rejected, and one notification in a hundred names no transaction.
    var sql: String {
        """
        BEGIN;
        SET LOCAL synchronous_commit = off; SET LOCAL maintenance_work_mem = '512MB';
        SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL enable_seqscan = on;
        INSERT INTO apps (bundle_id, environment, app_apple_id) VALUES ('com.example.game', 'Production', 1234567890);
        INSERT INTO signing_headers (app_id, header_sha256, header) VALUES (1, '', 'e30');
        CREATE TEMP TABLE later ON COMMIT DROP AS
        SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
          FROM pg_index
         WHERE indrelid IN ('transactions'::regclass, 'notifications'::regclass, 'renewals'::regclass, 'quoted_ids'::regclass)
           AND NOT indisprimary;
        DO $$ DECLARE i record; BEGIN
            FOR i IN SELECT name FROM later LOOP EXECUTE 'DROP INDEX ' || i.name; END LOOP;
        END $$;

        INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, app_account_token,
                                  listed_transaction_id, product_id, type, in_app_ownership_type, currency, storefront,
                                  price_milliunits, purchase_date, signed_date, payload_sha256, payload, source)
        SELECT 1, 2000000000000000 + c * 10000::bigint + t, 2000000000000000 + c * 10000::bigint, 700000000000000000 + c,
               ('00000000-0000-4000-8000-' || lpad(c::text, 12, '0'))::uuid, 2000000000000000 + c * 10000::bigint, 'coins.100',
               'Consumable', 'PURCHASED', 'USD', 'USA', 990, now() - c * interval '1 minute', now(), sha256(int8send(c * 10000::bigint + t)),
               jsonb_build_object('bundleId', 'com.example.game', 'environment', 'Production', 'filler', \(Self.filler)),
               'transactionHistory'
          FROM generate_series(1, \(customers)) c,
               generate_series(0, CASE WHEN c <= \(Self.heavyCustomers) THEN \(Self.heavyTransactions) ELSE \(Self.transactions) END - 1) t;

        INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, original_transaction_id,
                                   app_transaction_id, app_account_token, product_id, signed_date, payload_sha256, payload)
        SELECT 1, t.transaction_id || '-4000-' || lpad(n::text, 4, '0'), 'ONE_TIME_CHARGE', t.transaction_id,
               t.original_transaction_id, t.app_transaction_id, t.app_account_token, t.product_id,
               t.purchase_date + n * interval '1 minute', t.payload_sha256,
               jsonb_build_object('data', jsonb_build_object('bundleId', 'com.example.game', 'signedTransactionInfo',
                   jsonb_build_object('transactionId', t.transaction_id, 'inAppOwnershipType', 'PURCHASED')), 'filler', \(Self.filler))
          FROM transactions t,
               generate_series(1, CASE WHEN t.original_transaction_id::bigint - 2000000000000000 <= \(Self.heavyCustomers * 10_000)
                                       THEN \(Self.heavyNotifications) ELSE \(Self.notifications) END) n;
        INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
        SELECT 1, 'test-' || n, 'TEST', now(), '', '{}' FROM generate_series(1, \(customers * 12 / 100)) n;

        INSERT INTO signed_payloads (app_id, kind, record_key, signed_date, payload_sha256, header_id, payload, signature)
        SELECT 1, 'transaction', transaction_id, signed_date, payload_sha256, 1, convert_to(payload::text, 'UTF8'), ''::bytea FROM transactions
        UNION ALL
        SELECT 1, 'notification', notification_uuid, signed_date, payload_sha256, 1, convert_to(payload::text, 'UTF8'), ''
          FROM notifications;
        INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result)
        SELECT 1, notification_uuid, signed_date, 'SUCCESS' FROM notifications;
        INSERT INTO renewals (app_id, original_transaction_id, app_transaction_id, signed_date, payload_sha256, payload)
        SELECT 1, 2000000000000000 + c * 10000::bigint, 700000000000000000 + c, now(), '', '{}' FROM generate_series(1, \(customers)) c;
        INSERT INTO refunds (app_id, transaction_id, original_transaction_id, app_transaction_id, app_account_token, signed_date,
                             payload_sha256, payload)
        SELECT app_id, transaction_id, original_transaction_id, app_transaction_id, app_account_token, signed_date, '', payload
          FROM transactions WHERE transaction_id::bigint % 50 = 0;
        INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
        SELECT 1, 'bench', 'notificationHistory', 'window', 'signature', 'x', sha256(int4send(c)), convert_to(\(Self.filler), 'UTF8')
          FROM generate_series(1, \(customers / 10)) c;
        INSERT INTO quoted_ids (app_id, owner_kind, owner_key, id_hash)
        SELECT 1, 'rejected', r.record_id, ('x' || substr(md5(r.record_id || ' ' || n), 1, 16))::bit(64)::bigint
          FROM rejected_records r, generate_series(1, 20) n;
        INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint, cursor)
        SELECT 1, 'bench', stream, 2000000000000000 + c * 10000::bigint, 1, 'done', 'x', 'cursor'
          FROM generate_series(1, \(customers)) c, unnest(ARRAY['transactionHistory', 'refundHistory']) stream;
        DO $$ DECLARE i record; BEGIN
            FOR i IN SELECT definition FROM later LOOP EXECUTE i.definition; END LOOP;
        END $$;
        COMMIT;
        """
    }

    /// 256 characters that do not compress away.
    private static let filler = (0..<8).map { _ in "md5(random()::text)" }.joined(separator: " || ")
}
