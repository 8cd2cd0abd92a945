import AppStoreModel
import Erasure
import FoundationEssentials
import Ledger
import Postgres
import TestSupport
import Testing

/// A refresh computes what changed, and shows what a computation from every record gives.
@Suite(.migratedDatabase, .slow)
struct RefreshByChangesTests {
    /// The tables of a running refresh.
    static let working = [
        "refresh_keys", "refresh_periods_changed", "refresh_transactions_changed", "refresh_month_steps",
        "refresh_cancellations_before", "refresh_cancellations_after", "refresh_refund_requests_before",
        "refresh_refund_requests_after",
    ]

    /// The number of rows in the tables, as other sessions see it.
    private func workingRows(_ world: TestLedger) async throws -> String? {
        try await world.value(Self.working.map { "(SELECT count(*) FROM \($0))" }.joined(separator: " + "))
    }

    /// Refreshes the views from what changed, however much that is, and compares them with every record.
    private func differences(_ world: TestLedger) async throws -> [String] {
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        return try await world.differences()
    }

    /// Subscriptions of every kind with each other: ties, gaps, overlaps, upgrades, offers, refunds, families, missing
    /// facts.
    func populate(_ world: TestLedger) async throws {
        try await world.buy(
            """
            y1 | y | yearly | 2024-01-10 | 2025-01-10 | 4990 |
            y2 | y | yearly | 2025-01-10 | 2026-01-10 | 4990 | transaction_reason=RENEWAL  # after a year of paid service
            """
        )
        try await world.run(
            """
            WITH chance AS MATERIALIZED (SELECT setseed(0.125)), stretch AS MATERIALIZED (
                SELECT n, n / 8 AS subscription, random() AS a, random() AS b, random() AS c,
                       date_trunc('day', now() - (n / 8 % 20 + 2) * interval '40 days') + n % 8 * interval '30 days'
                           + floor(random() * 3) * (random() - 0.3) * interval '20 days' AS starts
                  FROM chance, generate_series(0, 2399) n
            )
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, listed_transaction_id, product_id, type, storefront,
                currency, quantity, in_app_ownership_type, transaction_reason, purchase_date, original_purchase_date, expires_date,
                price_milliunits, offer_type, offer_discount_type, offer_identifier, is_upgraded, advanced_commerce_period,
                revocation_date, revocation_type, revocation_percentage_milliunits, revocation_reason, signed_date, payload_sha256, payload)
            SELECT 1, n::text, (subscription * 8)::text, (subscription / 2 * 16)::text,
                   (ARRAY['plus', 'plus', 'pro', NULL])[1 + floor(a * 4)::integer],
                   (ARRAY['Auto-Renewable Subscription', 'Auto-Renewable Subscription', 'Consumable'])[1 + floor(b * 2.1)::integer],
                   'USA', (ARRAY['USD', 'USD', 'USD', 'EUR', NULL])[1 + floor(c * 5)::integer], 1,
                   CASE WHEN subscription % 9 = 0 THEN 'FAMILY_SHARED' ELSE 'PURCHASED' END,
                   CASE WHEN n % 8 > 0 THEN (ARRAY['RENEWAL', 'RENEWAL', 'PURCHASE', NULL])[1 + floor(b * 4)::integer] END,
                   CASE WHEN a < 0.98 THEN starts END, starts,
                   CASE WHEN b < 0.97 THEN starts + (ARRAY[30, 30, 7, 365, 100])[1 + floor(c * 5)::integer] * interval '1 day' END,
                   (ARRAY[4990, 4990, 9990, 0, NULL])[1 + floor(random() * 5)::integer],
                   CASE WHEN random() < 0.3 THEN 1 + floor(random() * 4)::integer END,
                   CASE WHEN random() < 0.1 THEN 'FREE_TRIAL' END, CASE WHEN random() < 0.1 THEN 'spring' END, random() < 0.1,
                   (ARRAY[NULL, NULL, 'P1M', 'P10D'])[1 + floor(random() * 4)::integer],
                   CASE WHEN random() < 0.1 THEN starts + random() * interval '50 days' END,
                   (ARRAY[NULL, 'REFUND_FULL', 'FAMILY_REVOKE'])[1 + floor(random() * 3)::integer],
                   (ARRAY[NULL, 50000, 100000])[1 + floor(random() * 3)::integer], floor(random() * 2)::integer, starts, '', '{}'
              FROM stretch
            """
        )
        try await world.run(
            """
            WITH chance AS MATERIALIZED (SELECT setseed(0.375))
            INSERT INTO renewals (app_id, original_transaction_id, signed_date, auto_renew_status, is_in_billing_retry_period,
                expiration_intent, grace_period_expires_date, payload_sha256, payload)
            SELECT 1, (n * 8)::text, now() - random() * interval '300 days', floor(random() * 2)::integer, random() < 0.3,
                   (ARRAY[NULL, 1, 2, 3, 4])[1 + floor(random() * 5)::integer],
                   CASE WHEN random() < 0.3 THEN now() + (random() - 0.5) * interval '40 days' END, '', '{}'
              FROM chance, generate_series(0, 299) n WHERE random() < 0.7
            """
        )
        try await world.run(
            """
            INSERT INTO subscription_statuses (app_id, original_transaction_id, status, transaction_id, asked_at)
            SELECT 1, (n * 8)::text, n % 7, (n * 8)::text, now() - n % 5 * interval '10 days' FROM generate_series(0, 299, 3) n
            """
        )
        try await world.run(
            """
            WITH chance AS MATERIALIZED (SELECT setseed(0.625))
            INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, signed_date, transaction_id, payload_sha256, payload)
            SELECT 1, 'n' || n, (ARRAY['EXPIRED', 'GRACE_PERIOD_EXPIRED', 'DID_FAIL_TO_RENEW', 'DID_RENEW'])[1 + floor(random() * 4)::integer],
                   (ARRAY[NULL, 'VOLUNTARY', 'BILLING_RETRY', 'PRICE_INCREASE', 'BILLING_RECOVERY'])[1 + floor(random() * 5)::integer],
                   now() - random() * interval '180 days', n::text, '', '{}'
              FROM chance, generate_series(0, 2399) n WHERE random() < 0.4
            """
        )
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a refresh shows what every record gives, and the next one writes nothing`(layout: TestLedger.Layout)
        async throws
    {
        let world = try await TestLedger(layout)
        try await populate(world)
        _ = try await world.ledger.refreshViews()
        // The other views read actions, a receiver's notifications, Advanced Commerce, or kinds of notifications that are not among these.
        let keys = try await world.ledger.transaction { connection in
            try connection.run(
                """
                SELECT name, array_to_string(row_key, ', ') AS key FROM schema_views
                 WHERE row_key IS NOT NULL AND name NOT LIKE '%\\_changes'
                   AND name NOT IN ('cancellations_by_day', 'refund_requests_by_month', 'actions_by_batch', 'price_changes_by_batch',
                                    'notification_completeness_by_day', 'current_advanced_commerce_items', 'pending_price_changes',
                                    'advanced_commerce_refunds_by_month', 'unmigrated_subscriptions',
                                    'unmigrated_subscriptions_by_reason', 'external_purchase_tokens', 'external_purchase_report_lines',
                                    'external_purchases_by_month', 'retention_messages', 'unclaimed_seats', 'seats_by_subscription')
                """
            ).map { (view: try $0.text("name"), columns: try $0.text("key")) }
        }
        #expect(keys.count == 27)
        for (view, columns) in keys {
            let rows = "SELECT count(*) > 0, count(*) = count(DISTINCT ROW(\(columns))) FROM \(view)"
            #expect(try await world.rows(rows) == ["(t,t)"], "\(view)")
        }
        #expect(try await differences(world) == [])
        let files =
            "SELECT relname, relfilenode, pg_relation_size(oid) FROM pg_class WHERE relnamespace = 'appstore'::regnamespace ORDER BY 1"
        let before = try await world.rows(files)
        _ = try await world.ledger.refreshViews()
        #expect(try await world.rows(files) == before)
    }

    /// Changes about one record in twenty of each kind, as a crawl, a replay or a person does.
    ///
    /// Some dates are within the next seconds, or 60 days before them, so that they pass between two refreshes.
    private func change(_ world: TestLedger, seed: Int) async throws {
        try await world.run(
            """
            SET LOCAL search_path = appstore;
            SELECT setseed(\(Double(seed % 1_000) / 1_000));
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, listed_transaction_id, product_id, type, storefront,
                currency, quantity, in_app_ownership_type, transaction_reason, purchase_date, original_purchase_date, expires_date,
                price_milliunits, offer_type, offer_discount_type, is_upgraded, signed_date, payload_sha256, payload, app_transaction_id,
                web_order_line_item_id, additional_transaction_reason)
            SELECT 1, (\(seed) * 1000 + n)::text, CASE WHEN random() < 0.97 THEN (n % 12 * 8)::text END, (n % 6 * 16)::text,
                   (ARRAY['plus', 'pro', 'new'])[1 + floor(random() * 2.2)::integer],
                   (ARRAY['Auto-Renewable Subscription', 'Auto-Renewable Subscription', 'Consumable', 'Non-Consumable'])[1 + floor(random() * 2.4)::integer],
                   'USA', 'USD', 1 + floor(random() * 1.2)::integer, (ARRAY['PURCHASED', 'PURCHASED', 'FAMILY_SHARED'])[1 + floor(random() * 2.1)::integer],
                   (ARRAY['RENEWAL', 'PURCHASE'])[1 + floor(random() * 2)::integer], starts, starts - floor(random() * 2) * interval '9 days',
                   starts + (ARRAY[30, 30, 7, 365])[1 + floor(random() * 4)::integer] * interval '1 day',
                   (ARRAY[4990, 9990, 0])[1 + floor(random() * 3)::integer], CASE WHEN random() < 0.2 THEN 1 END,
                   CASE WHEN random() < 0.1 THEN 'FREE_TRIAL' END, random() < 0.1, starts, '', '{}',
                   CASE WHEN random() < 0.5 THEN floor(random() * 9)::text END,
                   -- Several records of one purchase, seats among them, whose renewals begin about an hour after the expiry of others.
                   CASE WHEN random() < 0.7 THEN 'w' || floor(random() * 5) END, CASE WHEN random() < 0.2 THEN 'SEAT_ADDITION' END
              FROM (SELECT n, now() + random() * interval '3 seconds'
                               - (ARRAY[0, 7, 30, 60, 365, 400])[1 + floor(random() * 6)::integer] * interval '1 day' AS starts
                      FROM generate_series(1, 12) n WHERE random() < 0.5) s;
            UPDATE transactions SET price_milliunits = 5990 WHERE random() < 0.03;
            UPDATE transactions SET purchase_date = purchase_date - interval '40 days' WHERE random() < 0.03;
            UPDATE transactions SET revocation_date = now() + (random() - 0.5) * interval '4 seconds', revocation_type = 'REFUND_FULL'
             WHERE random() < 0.05;
            UPDATE transactions SET revocation_date = NULL WHERE random() < 0.02;
            UPDATE transactions SET original_transaction_id = (floor(random() * 12) * 8)::text WHERE random() < 0.03;
            UPDATE transactions SET web_order_line_item_id = 'w' || floor(random() * 5) WHERE random() < 0.05;
            UPDATE transactions SET app_transaction_id = floor(random() * 9)::text WHERE random() < 0.05;
            UPDATE transactions SET signed_date = signed_date + interval '1 day' WHERE random() < 0.05;
            UPDATE transactions t SET purchase_date = o.expires_date + (random() * 80 - 10) * interval '1 minute', transaction_reason = 'RENEWAL'
              FROM transactions o
             WHERE random() < 0.1 AND o.app_id = t.app_id AND o.original_transaction_id = t.original_transaction_id AND o.expires_date < now();
            UPDATE transactions SET listed_transaction_id = (floor(random() * 6) * 16)::text WHERE random() < 0.03;
            DELETE FROM transactions WHERE random() < 0.03;
            INSERT INTO renewals (app_id, original_transaction_id, signed_date, auto_renew_status, is_in_billing_retry_period,
                expiration_intent, grace_period_expires_date, payload_sha256, payload)
            SELECT 1, (n * 8)::text, now() - floor(random() * 3) * interval '30 days', floor(random() * 2)::integer, random() < 0.5,
                   (ARRAY[NULL, 1, 2, 3])[1 + floor(random() * 4)::integer],
                   now() + (random() - 0.5) * interval '4 seconds', sha256(int8send(n)), '{}'
              FROM generate_series(0, 11) n WHERE random() < 0.3
                ON CONFLICT (app_id, original_transaction_id) DO UPDATE SET signed_date = excluded.signed_date,
                   auto_renew_status = excluded.auto_renew_status, is_in_billing_retry_period = excluded.is_in_billing_retry_period,
                   expiration_intent = excluded.expiration_intent, grace_period_expires_date = excluded.grace_period_expires_date;
            INSERT INTO latest_signatures (app_id, kind, record_key, first_payload_sha256, signed_date, payload_sha256)
            SELECT 1, 'renewalInfo', original_transaction_id, payload_sha256, now() - floor(random() * 60) * interval '1 day', ''
              FROM renewals WHERE random() < 0.3
                ON CONFLICT (app_id, kind, record_key, first_payload_sha256) DO UPDATE SET signed_date = excluded.signed_date;
            INSERT INTO subscription_statuses (app_id, original_transaction_id, status, transaction_id, asked_at)
            SELECT 1, (n * 8)::text, 1 + floor(random() * 5)::integer, (n * 8)::text,
                   now() + random() * interval '2 seconds' - (ARRAY[0, 60])[1 + floor(random() * 2)::integer] * interval '1 day'
              FROM generate_series(0, 11) n WHERE random() < 0.3
                ON CONFLICT (app_id, original_transaction_id) DO UPDATE SET asked_at = excluded.asked_at,
                   status = CASE WHEN random() < 0.5 THEN excluded.status ELSE subscription_statuses.status END;
            UPDATE subscription_statuses SET ended_at = now() WHERE random() < 0.05;
            INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, signed_date, transaction_id, payload_sha256, payload)
            SELECT 1, \(seed) || 'n' || n, t.type,
                   CASE t.type WHEN 'DID_CHANGE_RENEWAL_STATUS' THEN (ARRAY['AUTO_RENEW_DISABLED', 'AUTO_RENEW_ENABLED'])[1 + n % 2]
                               WHEN 'DID_RENEW' THEN 'BILLING_RECOVERY' WHEN 'EXPIRED' THEN 'BILLING_RETRY' END,
                   now() - floor(random() * 90) * interval '1 day',
                   CASE WHEN random() < 0.9 THEN (SELECT transaction_id FROM transactions ORDER BY random() + n * 0 LIMIT 1) END, '', '{}'
              FROM generate_series(1, 20) n
             CROSS JOIN LATERAL (SELECT (ARRAY['EXPIRED', 'DID_FAIL_TO_RENEW', 'DID_RENEW', 'DID_CHANGE_RENEWAL_STATUS', 'CONSUMPTION_REQUEST',
                                               'REFUND', 'REFUND_DECLINED', 'RENEWAL_EXTENDED', 'REFUND_REVERSED'])[1 + floor(random() * 9 + n * 0)::integer] AS type) t
             WHERE random() < 0.5;
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result, read_at)
            SELECT 1, notification_uuid, now() + random() * interval '3 seconds' - interval '1 hour',
                   (ARRAY['SUCCESS', 'TIMED_OUT'])[1 + floor(random() * 2)::integer], now()
              FROM notifications WHERE random() < 0.2 ON CONFLICT DO NOTHING;
            UPDATE notifications SET signed_date = signed_date - interval '1 day' WHERE random() < 0.05;
            DELETE FROM notification_send_attempts a USING notifications n
             WHERE n.notification_uuid = a.notification_uuid AND n.notification_uuid LIKE '%n7';
            DELETE FROM notifications WHERE notification_uuid LIKE '%n7';
            INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits)
            SELECT 1, 'transaction', transaction_id, 0, 0, now(), 990 FROM transactions WHERE random() < 0.03 ON CONFLICT DO NOTHING;
            DELETE FROM advanced_commerce_refunds WHERE random() < 0.2;
            INSERT INTO products (app_id, product_id, period)
            SELECT 1, product, (ARRAY['P1M', 'P1W', 'P1Y'])[1 + floor(random() * 3)::integer]
              FROM unnest(ARRAY['plus', 'pro']) product WHERE random() < 0.1
                ON CONFLICT (app_id, product_id) DO UPDATE SET period = excluded.period;
            DELETE FROM products WHERE random() < 0.1
            """
        )
    }

    /// Changes rows in statements that name a partition, as a restore or a person does.
    private func changePartitions(_ world: TestLedger) async throws {
        try await world.run(
            """
            UPDATE transactions_p0 SET price_milliunits = 2990 WHERE random() < 0.2;
            UPDATE transactions_p1 SET product_id = 'pro' WHERE random() < 0.2;
            WITH gone AS (DELETE FROM transactions_p2 WHERE random() < 0.3 RETURNING *)
            INSERT INTO transactions_p2 SELECT * FROM gone WHERE random() < 0.5;
            UPDATE notifications_p0 SET signed_date = signed_date - interval '1 day' WHERE random() < 0.2;
            DELETE FROM notifications_p1 n WHERE random() < 0.2
               AND NOT EXISTS (SELECT FROM notification_send_attempts a WHERE a.notification_uuid = n.notification_uuid)
            """
        )
    }

    @Test(arguments: 1...histories)
    func `after any history of changes, a refresh of what changed shows what every record gives`(history: Int)
        async throws
    {
        let world = try await TestLedger(sessions: 2, history % 5 == 0 ? .partitioned : .plain)
        for round in 0..<4 {
            try await change(world, seed: history * 10 + round)
            if history % 5 == 0 { try await changePartitions(world) }
            if round == 1 {
                let customer = CustomerID.transaction(try #require(TransactionID(String(history % 12 * 8))))
                _ = try await world.ledger.erase([customer], in: [world.app])
            }
            if round != 2 { try await world.run("UPDATE refresh_state SET purchases = 1000000000") }
            _ = try await world.ledger.refreshViews()
        }
        try await change(world, seed: history * 10 + 4)
        let found = try await differences(world)
        #expect(found == [], "\(found)")
        #expect(try await world.rows("SELECT kind, key FROM refresh_changed_keys") == [])
        #expect(try await workingRows(world) == "0")
    }

    /// The number of random histories: 10, or the value of `STORELEDGER_HISTORIES`.
    private static let histories = ProcessInfo.processInfo.environment["STORELEDGER_HISTORIES"].flatMap(Int.init) ?? 10

    @Test
    func
        `what is committed while a refresh runs, is shown by the next one, and a refresh that is killed changes nothing`()
        async throws
    {
        let world = try await TestLedger(sessions: 2)
        for round in 0..<3 { try await change(world, seed: round) }
        _ = try await world.ledger.refreshViews()
        // It has its changes before the refresh takes its snapshot, and commits after.
        let writer = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try writer.script(
            "SET search_path = appstore; BEGIN; UPDATE transactions SET price_milliunits = 70 WHERE transaction_id < '1005'"
        )
        try await world.run("UPDATE transactions SET price_milliunits = 80 WHERE transaction_id > '1005'")
        _ = try await world.ledger.refreshViews()
        try writer.script("COMMIT")
        #expect(try await world.ledger.viewsAreStale())
        #expect(try await differences(world) == [])

        try await world.run("UPDATE transactions SET price_milliunits = 90")
        // Stops the refresh after it has changed the totals.
        let gate = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try gate.script("SET search_path = appstore; BEGIN; LOCK TABLE refresh_revenue_totals IN SHARE MODE")
        let other = try world.anotherProcess()
        async let refresh = other.refreshViews()
        try await world.settle("relation = 'appstore.refresh_revenue_totals'::regclass AND NOT granted")
        try await world.run(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'appstore.refresh_revenue_totals'::regclass AND NOT granted"
        )
        try gate.script("ROLLBACK")
        _ = try? await refresh
        #expect(try await workingRows(world) == "0")
        #expect(try await differences(world) == [])
    }

    @Test func `a figure that changes by itself at a date is shown by the first refresh after that date`() async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | a | plus | now -20 days | now +10 days | 1000 |
            b | b | plus | now -20 days | now +10 days | 1000 |
            c | c | plus | now -90 days | now -61 days | 1000 |
            d | d | plus | now -40 days | - | 1000 | type=Auto-Renewable Subscription
            e | e | plus | now -40 days | now -5 days | 1000 |
            """
        )
        let soon = "now() + interval '2 seconds'"
        try await world.run(
            """
            UPDATE transactions SET expires_date = \(soon) WHERE transaction_id = 'a';
            UPDATE transactions SET revocation_date = \(soon) WHERE transaction_id = 'b';
            INSERT INTO renewals (app_id, original_transaction_id, signed_date, is_in_billing_retry_period, grace_period_expires_date,
                                  payload_sha256, payload)
            VALUES (1, 'c', \(soon) - interval '60 days', true, NULL, '', '{}'), (1, 'e', now(), true, \(soon), '', '{}');
            INSERT INTO subscription_statuses (app_id, original_transaction_id, status, transaction_id, asked_at)
            VALUES (1, 'd', 1, 'd', \(soon) - interval '60 days');
            INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
            VALUES (1, 'n', 'TEST', now(), '', '{}');
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result, read_at)
            VALUES (1, 'n', \(soon) - interval '1 hour', 'TIMED_OUT', now())
            """
        )
        _ = try await world.ledger.refreshViews()
        let states = "SELECT status, subscriptions FROM subscriptions_by_status ORDER BY 1"
        let due = try #require(
            try await world.value(
                "SELECT max(due_at) FROM refresh_stored_periods WHERE due_at < now() + interval '1 hour'"
            )
        )
        try await poll { try await world.value("clock_timestamp() > '\(due)'::timestamptz") == "true" }
        #expect(try await world.ledger.viewsAreStale())
        #expect(try await differences(world) == [])
        #expect(
            try await world.rows(states) == ["(\"billing retry\",1)", "(expired,2)", "(revoked,1)", "(unknown,1)"]
        )
        #expect(try await world.value("SELECT retrying FROM notification_health_by_day") == "0")
        #expect(try await !world.ledger.viewsAreStale())
    }

    @Test
    func `records that Apple only signed again, or a status given again, are computed again only where that counts`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | a | plus | now -20 days | now +10 days | 1000 |
            b | b | plus | now -140 days | now -110 days | 1000 |
            c | c | plus | now -140 days | - | 1000 | type=Auto-Renewable Subscription
            d | d | plus | now -20 days | now +10 days | 1000 |
            """
        )
        try await world.run(
            """
            INSERT INTO renewals (app_id, original_transaction_id, signed_date, auto_renew_status, is_in_billing_retry_period,
                                  payload_sha256, payload)
            VALUES (1, 'a', now() - interval '10 days', 1, false, '', '{}'), (1, 'b', now() - interval '100 days', 1, true, '', '{}'),
                   (1, 'd', now() - interval '30 days', 1, false, '', '{}');
            INSERT INTO subscription_statuses (app_id, original_transaction_id, status, transaction_id, asked_at)
            VALUES (1, 'a', 1, 'a', now() - interval '10 days'), (1, 'c', 1, 'c', now() - interval '70 days')
            """
        )
        #expect(try await differences(world) == [])
        // b: billing retry counts for 60 days after the signature. c: so does a status. d: signed since the period began.
        try await world.run(
            """
            INSERT INTO latest_signatures (app_id, kind, record_key, first_payload_sha256, signed_date, payload_sha256)
            SELECT 1, 'renewalInfo', key, '', now(), '' FROM unnest(ARRAY['a', 'b', 'd']) key;
            UPDATE subscription_statuses SET asked_at = now(), records_signed_date = now()
            """
        )
        #expect(try await world.rows("SELECT DISTINCT kind FROM refresh_changed_keys") == ["(again)"])
        #expect(try await !world.ledger.viewsAreStale())
        let computed =
            "SELECT original_transaction_id FROM refresh_stored_periods WHERE xmin = (SELECT xmin FROM refresh_state) ORDER BY 1"
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        _ = try await world.ledger.refreshViews()
        #expect(try await world.rows(computed) == ["(b)", "(c)", "(d)"])
        #expect(try await differences(world) == [])
        #expect(
            try await world.rows("SELECT status, subscriptions FROM subscriptions_by_status ORDER BY 1")
                == ["(active,3)", "(\"billing retry\",1)"]
        )
        // a: an older answer, which counts no more. d: without its newer signature, its renewal info is too old.
        try await world.run(
            """
            UPDATE subscription_statuses SET asked_at = now() - interval '61 days' WHERE original_transaction_id = 'a';
            DELETE FROM latest_signatures WHERE record_key = 'd'
            """
        )
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        _ = try await world.ledger.refreshViews()
        #expect(try await world.rows(computed) == ["(a)", "(d)"])
        #expect(try await differences(world) == [])
    }

    @Test func `a damaged total is reported with its view, key and both values, and is corrected`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy("a | a | plus.monthly | now -40 days | now +10 days | 1000 |")
        _ = try await world.ledger.refreshViews()
        try await world.run("UPDATE refresh_average_revenue_totals SET customers = customers + 1")
        let found = try await world.ledger.verifyViews()
        #expect(found.map(\.view) == ["average_revenue_by_month"])
        let difference = try #require(found.first)
        #expect(difference.key.contains("\"currency\""))
        #expect(difference.shown?.contains("\"customers\": 2") == true)
        #expect(difference.computed?.contains("\"customers\": 1") == true)
        #expect(try await world.ledger.verifyViews() == [])

        try await world.run("UPDATE refresh_stored_periods SET product_id = 'other'")
        #expect(
            try await world.ledger.verifyViews().map(\.view) == ["refresh_stored_periods"]
        )
        #expect(try await world.ledger.verifyViews() == [])
    }

    @Test
    func
        `nothing of a customer stays in a refresh's tables: after a refresh, after one that failed, during a backup`()
        async throws
    {
        let world = try await TestLedger(sessions: 2)
        try await populate(world)
        _ = try await world.ledger.refreshViews()
        #expect(try await world.ledger.verifyViews() == [])
        #expect(try await workingRows(world) == "0")
        // The planner's statistics are left, and tell of no ID.
        let known = try await world.rows(
            "SELECT DISTINCT attname FROM pg_stats WHERE tablename LIKE 'refresh\\_%'"
        )
        #expect(known.contains("(product_id)"))
        #expect(known.filter { $0.contains("transaction_id") || $0.contains("customer") || $0.contains("key)") } == [])

        // A backup has such locks as long as it runs; nothing waits for it.
        let backup = try world.anotherProcess()
        try await backup.transaction { connection in
            try connection.script(
                "LOCK TABLE \((Self.working + ["refresh_stored_periods", "refresh_mrr_totals"]).joined(separator: ", ")) IN ACCESS SHARE MODE"
            )
            let done = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try done.script(
                "SET search_path = appstore; SET lock_timeout = '5s'; SELECT count(*) FROM refresh_views(true)"
            )
        }
        #expect(try await workingRows(world) == "0")

        try await world.run("ALTER TABLE refresh_revenue_totals ADD CONSTRAINT refused CHECK (false) NOT VALID")
        try await world.run("UPDATE transactions SET price_milliunits = 1 WHERE original_transaction_id = '8'")
        await #expect(throws: PostgresError.self) { _ = try await world.ledger.refreshViews() }
        #expect(try await workingRows(world) == "0")
        #expect(try await world.ledger.viewsAreStale())
    }

    @Test func `every view shows money also as a decimal amount, a thousandth of the milliunits in the same row`()
        async throws
    {
        let world = try await TestLedger()
        try await populate(world)
        try await world.run(
            """
            INSERT INTO exchange_rates VALUES ('USD', 'EUR', '2020-01-01', 1.1);
            INSERT INTO proceeds_rules VALUES (1, '*', '2020-01-01', 0.19, 0.3)
            """
        )
        _ = try await world.ledger.refreshViews()
        let pairs = try await world.ledger.transaction { connection in
            try connection.run(
                """
                SELECT c.relname AS view, m.attname AS milliunits, coalesce(a.attname, '') AS amount
                  FROM pg_class c JOIN pg_attribute m ON m.attrelid = c.oid AND m.attname LIKE '%\\_milliunits'
                  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.atttypid = 'numeric'::regtype
                       AND a.attname IN (regexp_replace(m.attname, 'milliunits$', 'amount'), regexp_replace(m.attname, '_milliunits$', ''))
                 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v'
                   AND c.relname NOT LIKE 'refresh\\_%'
                   AND m.attname <> 'revocation_percentage_milliunits'
                 ORDER BY 1, 2
                """
            ).map { (view: try $0.text("view"), milliunits: try $0.text("milliunits"), amount: try $0.text("amount")) }
        }
        #expect(pairs.count > 80)
        #expect(pairs.filter(\.amount.isEmpty).map { "\($0.view).\($0.milliunits)" } == [])
        // One statement for all views, because each computes much. Converted amounts have six decimals.
        let wrong = pairs.filter { !$0.amount.isEmpty }.map { view, milliunits, amount in
            let rounded = amount.hasSuffix("_estimated_amount") ? "round(\(amount), 3)" : amount
            return
                "SELECT '\(view).\(amount)' WHERE EXISTS (SELECT FROM \(view) WHERE \(rounded) IS DISTINCT FROM \(milliunits) / 1000::numeric)"
        }
        #expect(try await world.rows(wrong.joined(separator: " UNION ALL ")) == [])
    }

    @Test func `a customer who is erased while a refresh runs is neither waited for nor kept`() async throws {
        let world = try await TestLedger(sessions: 2)
        try await populate(world)
        let before = try await world.value("SELECT count(*) FROM purchases WHERE customer_key = '32'")
        #expect(before != "0")
        let refresh = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try refresh.script(
            "SET search_path = appstore; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM refresh_views()"
        )
        #expect(
            try await world.ledger.erase([.transaction(try #require(TransactionID("32")))], in: [world.app]).removed
                .contains {
                    $0.table == "transactions"
                }
        )
        try refresh.script("COMMIT")
        #expect(try await workingRows(world) == "0")
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value("SELECT count(*) FROM purchases WHERE customer_key = '32'") == "0")
        #expect(
            try await world.value("SELECT sum(purchases) FROM product_summary")
                == world.value("SELECT count(*) FROM purchases WHERE is_paid")
        )
        #expect(try await workingRows(world) == "0")
    }
}
