import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

/// Which plans PostgreSQL chooses for a refresh.
@Suite(.migratedDatabase, .slow)
struct RefreshPlanTests {
    /// Writes the plan of every statement, including statements in functions, to the server's log.
    private static let loggedPlans = """
        -c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_nested_statements=on \
        -c auto_explain.log_analyze=on -c auto_explain.log_timing=off
        """

    @Test(.enabled("PostgreSQL's auto_explain is not installed") { await OwnPostgres.canLoad("auto_explain") })
    func `a refresh compares no changed row with every other, also after a refresh of few rows`() async throws {
        try await OwnPostgres.running(copyOf: .migrated, options: Self.loggedPlans) { server in
            let ledger = Ledger(
                conninfo: ConnectionString(server.conninfo),
                schema: "appstore",
                sessions: 1,
                deadline: .seconds(60)
            )
            let app = try await ledger.app(bundleId: "com.example.game", environment: "Production", appAppleId: 1)
            let world = TestLedger(as: ledger, app: app)
            try await Self.subscribe(1...400, periods: 12, in: world)
            #expect(try await ledger.refreshViews().everything)
            let before = try await server.log().count
            for subscriptions in [1, 90, 1, 90] {
                try await Self.raisePrices(of: subscriptions, in: world)
                #expect(try await !ledger.refreshViews().everything)
            }
            let plans = try await server.log().dropFirst(before)
            let compared = plans.matches(of: #/Rows Removed by Join Filter: ([0-9]+)/#).compactMap { Int($0.1) }
            #expect(plans.contains("INSERT INTO refresh_periods_changed"))
            // Comparing each of 1,080 periods with each of 90 changed rows takes 97,200 comparisons.
            #expect((compared.max() ?? 0) < 10_000)
        }
    }

    @Test func `a refresh of many subscriptions reads their rows, and no others`() async throws {
        let world = try await TestLedger()
        let tables: Set = ["transactions", "refresh_stored_periods", "refresh_stored_transactions"]
        /// The rows that a refresh of 1,000 subscriptions reads in tables that grow with the customers.
        func read() async throws -> [String: Int] {
            #expect(try await world.ledger.refreshViews(everything: true).everything)
            try await Self.raisePrices(of: 1_000, in: world)
            return try await world.ledger.transaction { connection in
                // PostgreSQL's default; the tests' server makes one plan for all values.
                try connection.script("SET LOCAL plan_cache_mode = auto")
                return try TestLedger.rowsRead(on: connection) { connection in
                    let refreshed = try connection.run("SELECT is_everything, purchases FROM refresh_views()")[0]
                    #expect(try !refreshed.bool("is_everything") && refreshed.int64("purchases") == 1_000)
                }
                .filter { tables.contains($0.key) }
            }
        }
        try await Self.subscribe(1...4_100, periods: 3, in: world)
        let before = try await read()
        try await Self.subscribe(4_101...8_200, periods: 3, in: world)
        let after = try await read()
        #expect(
            before.count == tables.count && after.allSatisfy { $0.value <= before[$0.key, default: 0] * 11 / 10 },
            "\(before) \(after)"
        )
    }

    @Test func `a refresh reads no table of totals as a whole to remove rows that count nothing`() async throws {
        let world = try await TestLedger()
        try await Self.subscribe(1...2_000, periods: 1, in: world)
        // Each has its own product, so that totals have thousands of rows.
        try await world.run("UPDATE transactions SET product_id = 'plus ' || original_transaction_id")
        #expect(try await world.ledger.refreshViews(everything: true).everything)
        try await Self.raisePrices(of: 20, in: world)
        let read = try await world.ledger.transaction { connection in
            try TestLedger.rowsRead(on: connection) { connection in
                let sql = "SELECT is_everything, cardinality(changed_views) AS changed FROM refresh_views()"
                let refreshed = try connection.run(sql)[0]
                #expect(try !refreshed.bool("is_everything") && refreshed.int32("changed") > 20)
            }
        }
        // Usual periods, and the first and last sale at a price, are found in their whole tables.
        let others: Set = ["refresh_period_length_totals", "refresh_sale_totals"]
        let whole = read.filter { $0.key.hasSuffix("_totals") && !others.contains($0.key) && $0.value >= 2_000 }
        #expect(whole.isEmpty, "\(whole)")
    }

    @Test func `a refresh finds records without a transaction by their key, although the planner expects none`()
        async throws
    {
        let world = try await TestLedger()
        try await Self.subscribe(1...4_100, periods: 3, in: world)
        try await Self.notify(1...12_000, ofTransactions: true, in: world)
        try await world.run("ANALYZE notifications, transactions")
        #expect(try await world.ledger.refreshViews(everything: true).everything)
        try await Self.notify(12_001...12_400, ofTransactions: false, in: world)
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, type, product_id, purchase_date, signed_date, payload_sha256, payload)
            SELECT \(world.app.rawValue), 'alone ' || n, 'Consumable', 'coins', now(), now(), '', '{}' FROM generate_series(1, 400) n
            """
        )
        let read = try await world.ledger.transaction { connection in
            try TestLedger.rowsRead(on: connection) { connection in
                let refreshed = try connection.run("SELECT is_everything FROM refresh_views()")[0]
                #expect(try !refreshed.bool("is_everything"))
            }
        }
        // Reading 400 rows for each of 400 keys takes 160,000 rows.
        for table in ["notifications", "transactions"] {
            let rows = read[table, default: 0]
            #expect(400 <= rows && rows < 40_000, "\(table)")
        }
    }

    /// Inserts a notification for each number.
    private static func notify(_ numbers: ClosedRange<Int>, ofTransactions: Bool, in world: TestLedger) async throws {
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, signed_date, payload_sha256, payload)
            SELECT \(world.app.rawValue), n, CASE WHEN n % 2 = 0 THEN 'CONSUMPTION_REQUEST' ELSE 'REFUND_DECLINED' END,
                   CASE WHEN \(ofTransactions) THEN n END, timestamptz '2026-01-01 UTC', '', '{}'
              FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) n
            """
        )
    }

    /// Inserts a subscription for each number, with this many monthly periods.
    private static func subscribe(_ numbers: ClosedRange<Int>, periods: Int, in world: TestLedger) async throws {
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, web_order_line_item_id, type, product_id,
                                      purchase_date, expires_date, price_milliunits, currency, storefront, signed_date, payload_sha256, payload)
            SELECT \(world.app.rawValue), 100 * s + n, 100 * s + 1, 100 * s + n, 'Auto-Renewable Subscription', 'plus',
                   began + n * interval '1 month', began + (n + 1) * interval '1 month', 9990, 'USD', 'USA', now(), '', '{}'
              FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) s, generate_series(1, \(periods)) n,
                   (SELECT timestamptz '2025-01-01 UTC' AS began) d;
            SELECT analyze_grown_tables()
            """
        )
    }

    /// Changes the first period of each of the first `count` subscriptions.
    private static func raisePrices(of count: Int, in world: TestLedger) async throws {
        try await world.run(
            """
            UPDATE transactions SET price_milliunits = price_milliunits + 10
             WHERE transaction_id = original_transaction_id AND original_transaction_id::integer <= 100 * \(count) + 1
            """
        )
    }
}
