import AppStoreModel
import Erasure
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

/// What several materialised views read is computed once in a refresh, in the tables whose names begin with `kept_`.
@Suite(.migratedDatabase, .slow)
struct SharedBaseTests {
    private static let kept = [
        "kept_subscription_periods", "kept_subscription_months", "kept_current_subscriptions", "kept_purchases",
    ]

    /// The number of rows in the tables, as other sessions see it.
    private func keptRows(_ world: TestLedger) async throws -> String? {
        try await world.value(Self.kept.map { "(SELECT count(*) FROM \($0))" }.joined(separator: " + "))
    }

    /// Subscriptions of every kind with each other: ties, gaps, overlaps, upgrades, offers, refunds, families, things untold.
    private func populate(_ world: TestLedger) async throws {
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

    @Test func `a view shows the same after a refresh, which shares what several read, as computed by itself`()
        async throws
    {
        let world = try await TestLedger()
        try await populate(world)
        let views = try await world.ledger.refreshViews().filter {
            // They read notifications of kinds that are not among these.
            !["notification_health_by_day", "cancellations_by_day", "refund_requests_by_month"].contains($0.view)
        }
        #expect(views.count == 25 && views.allSatisfy { $0.rows > 0 }, "\(views)")
        #expect(
            try await world.rows(
                "SELECT name FROM schema_views WHERE NOT is_materialized AND refresh_milliseconds IS NOT NULL ORDER BY 1"
            )
                == Self.kept.map { "(\($0.dropFirst("kept_".count)))" }.sorted()
        )
        // In one transaction, so that all mean the same by now().
        let differences = try await world.ledger.transaction { connection in
            try connection.script("SET LOCAL statement_timeout = 0; SELECT count(*) FROM refresh_views()")
            return try views.map(\.view).filter { view in
                let definition = try connection.run(
                    "SELECT rtrim(pg_get_viewdef($1::regclass), ';') AS sql",
                    [.text(view)]
                )[0].text("sql")
                let found = try connection.run(
                    """
                    SELECT count(*) AS n
                      FROM ((TABLE \(view) EXCEPT ALL (\(definition))) UNION ALL ((\(definition)) EXCEPT ALL TABLE \(view))) d
                    """
                )
                return try found[0].int64("n") > 0
            }
        }
        #expect(differences.isEmpty)
    }

    @Test func `every view shows money as a decimal amount, too, a thousandth of the milliunits beside it`()
        async throws
    {
        let world = try await TestLedger()
        try await populate(world)
        try await world.run(
            """
            INSERT INTO exchange_rates VALUES (1, 'USD', 'EUR', '2020-01-01', 1.1);
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
                 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('v', 'm') AND c.relname NOT LIKE '%\\_at\\_refresh'
                   AND m.attname <> 'revocation_percentage_milliunits'
                 ORDER BY 1, 2
                """
            ).map { (view: try $0.text("view"), milliunits: try $0.text("milliunits"), amount: try $0.text("amount")) }
        }
        #expect(pairs.count > 80)
        #expect(pairs.filter(\.amount.isEmpty).map { "\($0.view).\($0.milliunits)" } == [])
        // One statement for all views, because each computes much.
        let wrong = pairs.filter { !$0.amount.isEmpty }.map {
            "SELECT '\($0.view).\($0.amount)' WHERE EXISTS (SELECT FROM \($0.view) WHERE \($0.amount) IS DISTINCT FROM \($0.milliunits) / 1000::numeric)"
        }
        #expect(try await world.rows(wrong.joined(separator: " UNION ALL ")) == [])
    }

    @Test func `billing_recovery_by_month compares a stretch with its own notifications, and not with every failure`()
        async throws
    {
        let world = try await TestLedger()
        try await populate(world)
        try await world.run("ANALYZE notifications")
        // As refresh_views() does it: from the stretches that it keeps, and with its settings.
        let plan = try await world.ledger.transaction { connection in
            try connection.script(
                """
                SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL jit = off;
                SET LOCAL work_mem = '64MB'; SELECT keep_for_refresh('subscription_periods')
                """
            )
            let definition = try connection.run("SELECT pg_get_viewdef('billing_recovery_by_month'::regclass) AS sql")
            return try connection.run("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) \(try definition[0].text("sql"))").map {
                try $0.text("QUERY PLAN")
            }
        }
        let inVain = plan.compactMap { line in
            line.contains("Rows Removed by Join Filter:") ? Int(line.split(separator: " ").last ?? "") : nil
        }.reduce(0, +)
        // 2,257 stretches and 599 failures: all with all is a million.
        #expect(inVain < 20_000, "\(plan.joined(separator: "\n"))")
    }

    @Test
    func `nothing of a customer stays in what was shared: after a refresh, after one that failed, beside a backup`()
        async throws
    {
        let world = try await TestLedger(sessions: 2)
        try await populate(world)
        _ = try await world.ledger.refreshViews()
        #expect(try await keptRows(world) == "0")
        #expect(
            try await world.value(
                "SELECT sum(pg_relation_size(name::regclass)) FROM unnest(ARRAY['\(Self.kept.joined(separator: "', '"))']) name"
            ) == "0"
        )
        // The planner's statistics are left, and tell of no ID.
        let known = try await world.rows("SELECT DISTINCT attname FROM pg_stats WHERE tablename LIKE 'kept\\_%'")
        #expect(known.contains("(product_id)"))
        #expect(known.filter { $0.contains("transaction_id") || $0.contains("customer") }.isEmpty)

        // A backup holds such locks as long as it runs; it is not waited for.
        let backup = try world.anotherProcess()
        try await backup.transaction { connection in
            try connection.script("LOCK TABLE \(Self.kept.joined(separator: ", ")) IN ACCESS SHARE MODE")
            let done = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try done.script("SET search_path = appstore; SET lock_timeout = '5s'; SELECT count(*) FROM refresh_views()")
        }
        #expect(try await keptRows(world) == "0")
        let purchases = try await world.value("SELECT sum(purchases) FROM product_summary")

        try await world.run("DROP INDEX revenue_by_month_key")  // now it cannot be refreshed beside its readers
        await #expect(throws: PostgresError.self) { _ = try await world.ledger.refreshViews() }
        #expect(try await keptRows(world) == "0")
        // By hand one view alone: the shared tables are empty, so it computes what it needs.
        try await world.run("DELETE FROM transactions WHERE original_transaction_id IN ('8', '16', '24')")
        try await world.run("REFRESH MATERIALIZED VIEW product_summary")
        let fewer = try await world.value("SELECT sum(purchases) FROM product_summary")
        #expect(fewer != purchases)
        #expect(try await world.value("SELECT count(*) FROM purchases WHERE is_paid") == fewer)
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
        #expect(try await keptRows(world) == "0")
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value("SELECT count(*) FROM purchases WHERE customer_key = '32'") == "0")
        #expect(
            try await world.value("SELECT sum(purchases) FROM product_summary")
                == world.value("SELECT count(*) FROM purchases WHERE is_paid")
        )
        #expect(try await keptRows(world) == "0")
    }
}
