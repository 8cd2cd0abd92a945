import AppStoreModel
import Ledger
import LedgerSchema
import Postgres
import Streams
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct CommitTests {
    @Test(arguments: TestLedger.Layout.allCases)
    func `rows, cursor and counters arrive together`(layout: TestLedger.Layout) async throws {
        let world = try await TestLedger(layout)
        let (items, holder) = try await world.leased(["1"])
        var rows = PageRows(Rows.transaction("10"), Rows.transaction("11"))
        rows.rejected = [Rows.rejected("x")]
        rows.sawRevocation = true
        let page = world.page(rows, of: items[0], for: holder, cursor: "R1", requests: 3)
        #expect(try await world.ledger.commit(page) == RowCounts(new: 2, newlyRejected: ["signature"]))
        let item = try await world.rows(
            """
            SELECT state, cursor, page_seq, page_count, request_count, rows_new, rows_updated, rows_unchanged,
                   records_rejected, saw_revocation, complete_until, finished_at FROM crawl_items
            """
        )
        #expect(item == ["(leased,R1,1,1,3,2,0,0,1,t,,)"])
        #expect(try await world.rows("SELECT transaction_id FROM transactions ORDER BY 1") == ["(10)", "(11)"])
        let origin = try await world.rows(
            "SELECT DISTINCT source, listed_transaction_id, last_run_id FROM transactions"
        )
        #expect(origin == ["(transactionHistory,1,\(holder.run))"])
    }

    @Test func `the last page ends the item in the same transaction`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        let page = world.page(
            PageRows(Rows.transaction("10")),
            of: items[0],
            for: holder,
            cursor: "R9",
            isLast: true,
            completeUntil: Jobs.now
        )
        #expect(try await world.ledger.commit(page) != nil)
        let item = try await world.rows(
            """
            SELECT state, cursor, claimable_at, lease_owner, (extract(epoch FROM complete_until) * 1000)::bigint,
                   finished_at IS NOT NULL FROM crawl_items
            """
        )
        #expect(item == ["(done,R9,,,\(Jobs.now.rawValue),t)"])
    }

    @Test func `a signing header that has another number after a failover is looked up again`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        func page(_ key: String, of item: WorkItem) -> PageCommit {
            var rows = PageRows(Rows.transaction(key))
            rows.archive = [Rows.archived(.transaction, key, payload: "{}", header: "eyJhIjoxfQ")]
            return world.page(rows, of: item, for: holder)
        }
        #expect(try await world.ledger.commit(page("10", of: items[0])) != nil)
        // The new server lacks the last transactions, and has given the number to another header.
        let other = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try other.script(
            """
            SET search_path TO appstore;
            CREATE TEMPORARY TABLE lost AS SELECT * FROM signing_headers;
            DELETE FROM signed_payloads; DELETE FROM signing_headers;
            INSERT INTO signing_headers (app_id, header_id, header_sha256, header) OVERRIDING SYSTEM VALUE
            SELECT app_id, header_id, sha256('other'), 'other' FROM lost;
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid();
            """
        )
        #expect(try await world.ledger.commit(page("11", of: items[1])) != nil)
        let headers = "SELECT header FROM signed_payloads JOIN signing_headers USING (app_id, header_id)"
        #expect(try await world.rows(headers) == ["(eyJhIjoxfQ)"])
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `the same page a second time is refused and changes nothing`(layout: TestLedger.Layout) async throws {
        let world = try await TestLedger(layout)
        let (items, holder) = try await world.leased(["1"])
        let page = world.page(Rows.fullPage(), of: items[0], for: holder)
        #expect(try await world.ledger.commit(page) == RowCounts(new: 22, newlyRejected: ["signature"]))
        let item = try await world.rows("SELECT * FROM crawl_items")
        let versions = try await world.rowVersions()
        #expect(try await world.ledger.commit(page) == nil)
        #expect(try await world.rows("SELECT * FROM crawl_items") == item)
        #expect(try await world.rowVersions() == versions)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a page of known history writes no new row version`(layout: TestLedger.Layout) async throws {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1", "2"])
        #expect(
            try await world.commit(Rows.fullPage(), of: &items[0], for: holder)
                == RowCounts(new: 22, newlyRejected: ["signature"])
        )
        let versions = try await world.rowVersions()
        #expect(!versions.isEmpty)
        #expect(try await world.commit(Rows.fullPage(), of: &items[0], for: holder) == RowCounts(unchanged: 22))
        #expect(try await world.commit(Rows.fullPage(), of: &items[1], for: holder) == RowCounts(unchanged: 22))
        #expect(try await world.rowVersions() == versions)
    }

    /// Two snapshots of one transaction; the second of the pair wins in either order of arrival.
    @Test(arguments: [
        [
            Rows.transaction("1", signed: 1_000, hash: 9, product: "old"),
            Rows.transaction("1", signed: 2_000, product: "new"),
        ],
        [
            Rows.transaction("1", hash: 9, product: "old"),
            Rows.transaction("1", hash: 1, product: "new", isRevoked: true),
        ],
        [Rows.transaction("1", hash: 1, product: "old"), Rows.transaction("1", hash: 9, product: "new")],
        [
            Rows.transaction("1", hash: 1, product: "old", isRevoked: true),
            Rows.transaction("1", hash: 9, product: "new", isRevoked: true),
        ],
        [
            Rows.transaction("1", signed: 1_000, hash: 9, product: "old", isRevoked: true),
            Rows.transaction("1", signed: 1_001, hash: 1, product: "new"),
        ],
    ])
    func `D14 J67 the newest snapshot wins in either order of arrival, with a fixed tie-break`(
        _ snapshots: [Snapshot]
    ) async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1", "2"])
        let product = "SELECT product_id FROM transactions"
        #expect(try await world.commit(PageRows(snapshots[0]), of: &items[0], for: holder) == RowCounts(new: 1))
        #expect(try await world.commit(PageRows(snapshots[1]), of: &items[0], for: holder) == RowCounts(updated: 1))
        #expect(try await world.value(product) == "new")
        #expect(try await world.commit(PageRows(snapshots[0]), of: &items[1], for: holder) == RowCounts(unchanged: 1))
        #expect(try await world.value(product) == "new")
        try await world.run("DELETE FROM transactions")
        try await world.commit(PageRows(snapshots[1]), of: &items[1], for: holder)
        #expect(try await world.commit(PageRows(snapshots[0]), of: &items[1], for: holder) == RowCounts(unchanged: 1))
        #expect(try await world.value(product) == "new")
    }

    @Test func `D06 eight workers that commit the same records in any order end with the newest, and none fails`()
        async throws
    {
        let world = try await TestLedger(sessions: 8)
        let (items, holder) = try await world.leased((1...8).map(String.init))
        let ledger = world.ledger
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (worker, item) in items.enumerated() {
                group.addTask {
                    var item = item
                    for round in 0..<12 {
                        let age = Int64((round * 7 + worker * 5) % 13)
                        var rows = Rows.fullPage(signed: 1_000 + age, hash: UInt8(age))
                        rows.snapshots.shuffle()
                        let counts = try await ledger.commit(world.page(rows, of: item, for: holder))
                        #expect(counts != nil)
                        item.pageSequence += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        let newest = try await world.rows("SELECT DISTINCT signed_date, get_byte(payload_sha256, 0) FROM transactions")
        #expect(newest == [#"("1970-01-01 00:00:01.012+00",12)"#])
        let deadlocks = "(SELECT deadlocks FROM pg_stat_database WHERE datname = current_database())"
        #expect(try await world.value(deadlocks) == "0")
        #expect(try await world.count("transactions") == 20)
        #expect(try await world.count("advanced_commerce_items") == 40)
    }

    @Test func `keys that differ only in their bytes are two records`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        let pair = { (signed: Int64, sku: String) in
            PageRows(
                Rows.transaction(composed, signed: signed, children: [Rows.items(of: composed, skus: [sku])]),
                Rows.transaction(decomposed, signed: 5, children: [Rows.items(of: decomposed, skus: ["kept"])])
            )
        }
        #expect(try await world.commit(pair(10, "first"), of: &items[0], for: holder) == RowCounts(new: 2))
        let second = try await world.commit(pair(20, "second"), of: &items[0], for: holder)
        #expect(second == RowCounts(updated: 1, unchanged: 1))
        #expect(try await world.rows("SELECT sku FROM advanced_commerce_items ORDER BY 1") == ["(kept)", "(second)"])
    }

    @Test func `refund history fills both tables and counts each transaction once`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"], streams: RunTests.histories, of: .refundHistory)
        var rows = PageRows(
            Rows.transaction("10", isRevoked: true),
            Rows.snapshot(Tables.refunds, "10", isRevoked: true)
        )
        rows.archive = [Rows.archived(.transaction, "10", payload: "{}")]
        #expect(try await world.commit(rows, of: &items[0], for: holder) == RowCounts(new: 1))
        #expect(try await world.count("refunds WHERE revocation_date IS NOT NULL") == 1)
        #expect(try await world.value("SELECT source FROM transactions") == "refundHistory")
        #expect(try await world.value("SELECT is_refund FROM signed_payloads") == "true")
    }

    @Test func `a transaction keeps the ID it was listed under when it comes again with the whole app`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        try await world.commit(PageRows(Rows.transaction("10")), of: &items[0], for: holder)
        let origin = RowOrigin(
            app: world.app,
            job: "j",
            run: 9,
            stream: .notificationHistory,
            listedTransactionID: nil
        )
        let newer = PageRows(Rows.transaction("10", signed: Rows.signedDate + 1))
        #expect(try await world.ledger.write(newer, from: origin) == RowCounts(updated: 1))
        let row = try await world.value("SELECT (source, listed_transaction_id, last_run_id) FROM transactions")
        #expect(row == "(notificationHistory,1,9)")
    }

    @Test func `child rows come with a newer snapshot and stay with an unchanged one`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        let skus = "SELECT owner_kind, owner_key, position, sku FROM advanced_commerce_items ORDER BY 1, 2, 3"
        func commit(_ signed: Int64, _ skus: [String]) async throws {
            let transaction = Rows.transaction("10", signed: signed, children: [Rows.items(of: "10", skus: skus)])
            let renewal = Rows.snapshot(
                Tables.renewals,
                "10",
                signed: 1,
                children: [Rows.items(of: "10", kind: "renewal", skus: ["r"])]
            )
            try await world.commit(PageRows(transaction, renewal), of: &items[0], for: holder)
        }
        try await commit(1_000, ["a", "b"])
        #expect(try await world.rows(skus) == ["(renewal,10,0,r)", "(transaction,10,0,a)", "(transaction,10,1,b)"])
        try await commit(1_000, [])
        try await commit(500, ["z"])
        #expect(try await world.rows(skus) == ["(renewal,10,0,r)", "(transaction,10,0,a)", "(transaction,10,1,b)"])
        try await commit(2_000, ["c"])
        #expect(try await world.rows(skus) == ["(renewal,10,0,r)", "(transaction,10,0,c)"])
        try await commit(3_000, [])
        #expect(try await world.rows(skus) == ["(renewal,10,0,r)"])
    }

    @Test func `child rows that stayed when their record was removed by hand are replaced when it comes back`()
        async throws
    {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        let skus = "SELECT owner_key, sku FROM advanced_commerce_items ORDER BY 1, 2"
        for key in ["10", "11"] {
            let children = [Rows.items(of: key, skus: ["a", "b"])]
            try await world.commit(PageRows(Rows.transaction(key, children: children)), of: &items[0], for: holder)
        }
        try await world.run("DELETE FROM transactions WHERE transaction_id = '10'")
        let children = [Rows.items(of: "10", skus: ["c"])]
        try await world.commit(PageRows(Rows.transaction("10", children: children)), of: &items[0], for: holder)
        #expect(try await world.rows(skus) == ["(10,c)", "(11,a)", "(11,b)"])
    }

    @Test func `send attempts grow, and a changed result is taken over`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        let pages: [[(date: Int64, result: String)]] = [
            [(1_000, "TIMED_OUT")], [(1_000, "TIMED_OUT"), (2_000, "SUCCESS")], [(1_000, "NO_RESPONSE")],
        ]
        for attempts in pages {
            var rows = PageRows(Rows.snapshot(Tables.notifications, "u"))
            rows.sendAttempts = attempts.map { Rows.attempt("u", $0.date, $0.result) }
            try await world.commit(rows, of: &items[0], for: holder)
        }
        let attempts = try await world.rows(
            "SELECT attempt_date, send_attempt_result FROM notification_send_attempts ORDER BY 1"
        )
        #expect(attempts == [#"("1970-01-01 00:00:01+00",NO_RESPONSE)"#, #"("1970-01-01 00:00:02+00",SUCCESS)"#])
    }

    /// A plan made while the table was empty takes any index for as good as the primary key.
    @Test func `the ledger's rows are found by the primary key however the table has grown`() async throws {
        let world = try await TestLedger(sessions: 1)
        var (items, holder) = try await world.leased(["1"])
        for page in 10..<17 {
            try await world.commit(Rows.fullPage(prefix: String(page)), of: &items[0], for: holder)
        }
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, signed_date, payload_sha256, payload)
            SELECT \(world.app.rawValue), n, now(), '', '{}' FROM generate_series(1000000, 1020000) n;
            SELECT pg_stat_force_next_flush()
            """
        )
        let reads = """
            SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'transactions' AND indexrelname NOT LIKE '%_pkey'
            """
        let before = try await world.value(reads)
        try await world.commit(Rows.fullPage(prefix: "20"), of: &items[0], for: holder)
        try await world.run("SELECT pg_stat_force_next_flush()")
        #expect(try await world.value(reads) == before)
    }

    /// Every place where a page can fail, and how it is made to fail there.
    @Test(arguments: [
        ("advanced_commerce_items", "sku <> 'b'"), ("transactions", "transaction_id <> '420'"),
        ("renewals", "false"), ("notifications", "false"), ("notification_send_attempts", "false"),
        ("signed_payloads", "record_key <> '429'"), ("rejected_records", "false"), ("field_issues", "false"),
        ("schema_drift", "false"), ("crawl_items", "cursor IS NULL"),
    ])
    func `a page that fails anywhere leaves nothing`(_ table: String, _ condition: String) async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        try await world.run("ALTER TABLE \(table) ADD CONSTRAINT refused CHECK (\(condition))")
        var rows = Rows.fullPage()
        rows.drift = [SchemaDrift(kind: .transaction, path: "new", sample: "1")]
        let page = world.page(rows, of: items[0], for: holder)
        let item = try await world.rows("SELECT * FROM crawl_items")
        let error = await #expect(throws: PostgresError.self) { _ = try await world.ledger.commit(page) }
        #expect(error?.state == .checkViolation)
        #expect(try await world.rows("SELECT * FROM crawl_items") == item)
        for table in Tables.all.map(\.name) {
            #expect(try await world.count(table) == 0, "\(table)")
        }
        try await world.run("ALTER TABLE \(table) DROP CONSTRAINT refused")
        #expect(try await world.ledger.commit(page) == RowCounts(new: 22, newlyRejected: ["signature"]))
    }
}
