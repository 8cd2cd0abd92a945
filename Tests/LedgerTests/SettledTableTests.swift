import Ledger
import LedgerSchema
import Streams
import TestSupport
import Testing

/// When a session keeps its plans, and that the kept ones find rows by their key.
@Suite(.migratedDatabase)
struct SettledTableTests {
    /// Rows of a page, so wide that a few thousand of them fill a megabyte.
    private func page(_ number: Int) -> PageRows {
        var rows = PageRows()
        rows.snapshots = (0..<20).map {
            Rows.transaction("\(number * 20 + $0)", product: String(repeating: "p", count: 400))
        }
        return rows
    }

    @Test func `pages keep their plans once the tables are large, and find rows by their key alone`() async throws {
        let world = try await TestLedger(sessions: 1)
        var (items, holder) = try await world.leased(["1"])
        let kept = """
            (SELECT coalesce(sum(generic_plans), 0) FROM pg_prepared_statements
              WHERE statement LIKE 'SELECT s.ordinality AS place%FROM transactions h%' OR statement LIKE 'UPDATE crawl_items%')
            """
        for number in 0..<60 { try await world.commit(page(number), of: &items[0], for: holder) }
        #expect(try await world.value(kept) == "0")
        for number in 60..<140 { try await world.commit(page(number), of: &items[0], for: holder) }
        #expect(try await world.value("pg_relation_size('transactions') > 1048576") == "true")
        let before = try #require(try await world.value(kept).flatMap(Int.init))
        let others = """
            (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes
              WHERE relname IN ('transactions', 'crawl_items') AND indexrelname NOT LIKE '%_pkey')
            """
        try await world.run("SELECT pg_stat_force_next_flush()")
        let readBefore = try await world.value(others)
        // One new page and one that is there already; of each, the rows and the item are looked up.
        try await world.commit(page(140), of: &items[0], for: holder)
        #expect(try await world.commit(page(7), of: &items[0], for: holder) == RowCounts(unchanged: 20))
        #expect(try await world.value(kept) == "\(before + 4)")
        try await world.run("SELECT pg_stat_force_next_flush()")
        #expect(try await world.value(others) == readBefore)
    }

    @Test func `a replay looks child rows up by their owner alone, however many have come since`() async throws {
        let world = try await TestLedger(sessions: 1)
        let replay = RowOrigin(
            app: world.app,
            job: "nightly",
            run: nil,
            stream: .transactionHistory,
            listedTransactionID: nil
        )
        for number in 0..<140 { _ = try await world.ledger.write(page(number), from: replay) }
        #expect(try await world.value("pg_relation_size('transactions') > 1048576") == "true")
        #expect(try await world.ledger.write(page(7), from: replay) == RowCounts(unchanged: 20))
        try await addItems(to: world)
        #expect(try await world.ledger.write(page(7), from: replay) == RowCounts(unchanged: 20))
        #expect(try await itemsReadByOtherColumns(world) == "0")
    }

    @Test func `a page with new line items looks for old ones by their owner alone, however many have come since`()
        async throws
    {
        let world = try await TestLedger(sessions: 1)
        var (items, holder) = try await world.leased(["1"])
        for number in 0..<140 { try await world.commit(page(number), of: &items[0], for: holder) }
        for key in ["before", "after"] {
            let rows = PageRows(Rows.transaction(key, children: [Rows.items(of: key, skus: ["a"])]))
            try await world.commit(rows, of: &items[0], for: holder)
            try await addItems(of: key, to: world)
        }
        #expect(try await itemsReadByOtherColumns(world) == "0")
    }

    @Test func `a page with rejected records finds earlier ones by their identity, however many have come since`()
        async throws
    {
        let world = try await TestLedger(sessions: 1)
        var (items, holder) = try await world.leased(["1"])
        for number in 0..<140 { try await world.commit(page(number), of: &items[0], for: holder) }
        for number in 1...3 {
            var rows = PageRows()
            rows.rejected = [Rows.rejected("a.b.\(number)", hash: UInt8(number))]
            try await world.commit(rows, of: &items[0], for: holder)
            try await world.run(
                """
                INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
                SELECT \(world.app.rawValue), 'nightly', 'transactionHistory', '1', 'signature', '', sha256(int4send(\(number) * 10000 + n)), ''
                  FROM generate_series(1, 5000) n
                """
            )
        }
        try await world.run("SELECT pg_stat_force_next_flush()")
        let read = "(SELECT sum(idx_tup_read) < 100 FROM pg_stat_user_indexes WHERE relname = 'rejected_records')"
        #expect(try await world.value(read) == "true")
    }

    @Test func `a customer's page finds transactions from notifications by their key alone`() async throws {
        let world = try await TestLedger(sessions: 1)
        var (items, holder) = try await world.leased(["1"])
        for number in 0..<140 { try await world.commit(page(number), of: &items[0], for: holder) }
        // All transactions have a listed ID now.
        try await world.run("ANALYZE transactions")
        let notifications = RowOrigin(
            app: world.app,
            job: "nightly",
            run: nil,
            stream: .notificationHistory,
            listedTransactionID: nil
        )
        for number in 200..<260 { _ = try await world.ledger.write(page(number), from: notifications) }
        try await world.run("SELECT pg_stat_force_next_flush()")
        let read =
            "(SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'transactions_listed_transaction_id')"
        let before = try await world.value(read)
        try await world.commit(page(200), of: &items[0], for: holder)
        try await world.run("SELECT pg_stat_force_next_flush()")
        #expect(try await world.value(read) == before)
        let unlisted = "(SELECT count(*) FROM transactions WHERE listed_transaction_id IS NULL)"
        #expect(try await world.value(unlisted) == "1180")
    }

    /// Adds line items of 5,000 transactions and as many renewals.
    private func addItems(of owners: String = "of a page", to world: TestLedger) async throws {
        for kind in ["transaction", "renewal"] {
            try await world.run(
                """
                INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position)
                SELECT \(world.app.rawValue), '\(kind)', '\(owners) ' || n, 0 FROM generate_series(1, 5000) n
                """
            )
        }
    }

    /// How many entries were read in the indexes of line items that do not begin with the owner.
    private func itemsReadByOtherColumns(_ world: TestLedger) async throws -> String? {
        try await world.run("SELECT pg_stat_force_next_flush()")
        return try await world.value(
            """
            (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes
              WHERE relname = 'advanced_commerce_items' AND indexrelname NOT LIKE '%_pkey')
            """
        )
    }

    @Test func `the planner knows that refresh_state has one row before a view joins it`() async throws {
        let world = try await TestLedger()
        _ = try await world.ledger.refreshViews()
        let rows = "(SELECT reltuples::int FROM pg_class WHERE oid = 'refresh_state'::regclass)"
        #expect(try await world.value(rows) == "1")
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `tables that have grown have statistics before the views are computed from them`(layout: TestLedger.Layout)
        async throws
    {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1"])
        let known = "(SELECT reltuples::bigint FROM pg_class WHERE oid = 'transactions'::regclass)"
        for number in 0..<20 { try await world.commit(page(number), of: &items[0], for: holder) }
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value(known) == "400")
        // A twentieth more is not enough, a quarter is.
        try await world.commit(page(20), of: &items[0], for: holder)
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value(known) == "400")
        for number in 21..<26 { try await world.commit(page(number), of: &items[0], for: holder) }
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value(known) == "520")
    }

    /// At the end of a restore the indexes are created, which sets the sizes in pg_class and no statistics.
    @Test(arguments: TestLedger.Layout.allCases)
    func `tables that have a size and no statistics are analysed before the views are computed`(
        layout: TestLedger.Layout
    ) async throws {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1"])
        for number in 0..<20 { try await world.commit(page(number), of: &items[0], for: holder) }
        try await world.run("CREATE INDEX restored ON transactions (app_id, transaction_id)")
        let known = "EXISTS (SELECT FROM pg_stats WHERE schemaname = 'appstore' AND tablename = 'transactions')"
        #expect(try await world.value(known) == "false")
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value(known) == "true")
    }

    @Test func `a large table whose rows are gone is not analysed at each refresh`() async throws {
        let world = try await TestLedger()
        try await world.run(
            """
            INSERT INTO refresh_cancellations_after (app_id, transaction_key)
            SELECT \(world.app.rawValue), n FROM generate_series(1, 2000) n;
            DELETE FROM refresh_cancellations_after;
            """
        )
        func analyses() async throws -> String? {
            try await world.run("SELECT pg_stat_force_next_flush()")
            return try await world.value(
                "(SELECT analyze_count FROM pg_stat_user_tables WHERE relname = 'refresh_cancellations_after')"
            )
        }
        for _ in 1...3 {
            _ = try await world.ledger.refreshViews()
            #expect(try await analyses() == "1")
        }
    }
}
