import AppStoreModel
import FoundationEssentials
import LedgerSchema
import Planning
import Postgres
import Streams
import TestSupport
import Testing

@testable import Erasure
@testable import Ledger

/// What an erasure has to find besides records, and what is recognised only after it.
@Suite(.temporaryDatabase)
struct ErasureLeftoverTests {
    private static let customer = "100000000001"
    private static let token: [UInt8] = Array(0xA1...0xB0)
    private static let tokenText = "a1a2a3a4-a5a6-a7a8-a9aa-abacadaeafb0"

    private func purchase(_ id: String, app: String, token: [UInt8]? = nil) -> Snapshot {
        Rows.snapshot(
            Tables.transactions,
            id,
            cells: [
                "original_transaction_id": .text(id), "app_transaction_id": .text(app),
                "app_account_token": token.map(Cell.uuid) ?? .null,
            ]
        )
    }

    private func write(_ world: TestLedger, _ rows: PageRows, listed: String? = nil) async throws -> RowCounts {
        let origin = RowOrigin(
            app: world.app,
            job: "j",
            run: 1,
            stream: .transactionHistory,
            listedTransactionID: listed
        )
        return try await world.ledger.write(rows, from: origin)
    }

    private func erase(_ world: TestLedger, _ id: String) async throws -> ErasureSummary {
        try await world.ledger.erase([.transaction(id)], in: [world.app])
    }

    /// A notification that names no transaction, and its text.
    private func notification(_ uuid: String, text: String) -> PageRows {
        var rows = PageRows(Rows.snapshot(Tables.notifications, uuid))
        rows.archive = [Rows.archived(.notification, uuid, payload: text)]
        return rows
    }

    private func rejecting(_ text: String, hash: UInt8, reason: String = "signature") -> PageRows {
        var rows = PageRows()
        rows.rejected = [Rows.rejected(text, reason: reason, hash: hash)]
        return rows
    }

    @Test(arguments: [customer, tokenText.uppercased()])
    func `an erasure finds rejects and notifications by the IDs their texts quote, and leaves all others`(
        quoted: String
    ) async throws {
        let world = try await TestLedger()
        _ = try await write(world, PageRows(purchase(Self.customer, app: "704000000001", token: Self.token)))
        let encoded = Data(#"{"id":"\#(quoted)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        let hidden = "eyJh.\(encoded).c2ln"
        _ = try await write(world, rejecting(hidden, hash: 1))
        _ = try await write(world, rejecting("of 200000000002", hash: 2))
        _ = try await write(world, notification("quoting", text: hidden))
        _ = try await write(world, notification("other", text: "of 200000000002"))
        let erasure = try await erase(world, Self.customer)
        #expect(
            erasure.removed == [
                .init(table: "notifications", rows: 1), .init(table: "rejected_records", rows: 1),
                .init(table: "signed_payloads", rows: 1), .init(table: "transactions", rows: 1),
            ]
        )
        let texts = try await world.rows("SELECT convert_from(raw, 'UTF8') FROM rejected_records")
        #expect(texts == ["(\"of 200000000002\")"])
        #expect(try await world.rows("SELECT notification_uuid FROM notifications") == ["(other)"])
        // Nor do hashes outlive the texts.
        #expect(try await world.rows("SELECT DISTINCT owner_key FROM quoted_ids ORDER BY 1") == ["(2)", "(other)"])
    }

    /// Where the ledger keeps a token that the customer's transaction does not have any more.
    enum FormerToken: CaseIterable {
        case dropped, changed, older, ofRefund, ofRenewal, ofNotification, beforeUpgrade
    }

    /// Two signatures of one record, of which only the first or the second has the token.
    private func write(_ world: TestLedger, _ place: FormerToken) async throws {
        func signature(_ table: Table, _ token: [UInt8]?, _ number: UInt8) -> PageRows {
            var cells: [String: Cell] = [
                "original_transaction_id": .text(Self.customer), "app_account_token": token.map(Cell.uuid) ?? .null,
            ]
            if table == Tables.notifications { cells["transaction_id"] = .text(Self.customer) }
            let key = table == Tables.notifications ? "n\(number)" : Self.customer
            let signed = Rows.signedDate + Int64(number)
            var rows = PageRows(Rows.snapshot(table, key, signed: signed, hash: number, cells: cells))
            let text = token.map { _ in Self.tokenText } ?? ""
            rows.archive = [
                Rows.archived(
                    RecordKind.ofPayloads(in: table),
                    key,
                    signed: signed,
                    payload: #"{"appAccountToken":"\#(text)"}"#,
                    hash: number
                )
            ]
            return rows
        }
        let table =
            switch place {
            case .ofRefund: Tables.refunds
            case .ofRenewal: Tables.renewals
            case .ofNotification: Tables.notifications
            default: Tables.transactions
            }
        let other = [UInt8](repeating: 9, count: 16)
        if place == .older {
            _ = try await write(world, signature(table, nil, 2))
            _ = try await write(world, signature(table, Self.token, 1))
        } else {
            _ = try await write(world, signature(table, Self.token, 1))
            _ = try await write(world, signature(table, place == .changed ? other : nil, 2))
        }
        if table != Tables.transactions { _ = try await write(world, signature(Tables.transactions, nil, 3)) }
        if place == .beforeUpgrade {
            try await world.run(
                """
                DELETE FROM quoted_ids; INSERT INTO unread_texts (app_id, owner_kind, owner_key)
                SELECT app_id, kind, record_key FROM signed_payloads GROUP BY 1, 2, 3 HAVING count(*) > 1
                """
            )
        }
        _ = try await write(world, PageRows(purchase("200000000002", app: "704000000002")))
    }

    @Test(arguments: TestLedger.Layout.allCases, FormerToken.allCases)
    func `a customer is erased by a former account token, and everything of the customer with it`(
        layout: TestLedger.Layout,
        place: FormerToken
    ) async throws {
        let world = try await TestLedger(layout)
        try await write(world, place)
        _ = try await world.ledger.erase([try #require(CustomerID.account(Self.tokenText))], in: [world.app])
        #expect(try await world.rows("SELECT transaction_id FROM transactions") == ["(200000000002)"])
        for table in ["refunds", "renewals", "notifications", "signed_payloads", "quoted_ids", "unread_texts"] {
            #expect(try await world.count(table) == 0, "\(table)")
        }
        // The customer is known by the other ID too.
        #expect(try await write(world, PageRows(purchase(Self.customer, app: "704000000001"))).withheld == 1)
    }

    @Test(arguments: FormerToken.allCases)
    func `an erasure by another ID withholds later records with a former account token`(place: FormerToken)
        async throws
    {
        let world = try await TestLedger()
        try await write(world, place)
        _ = try await erase(world, Self.customer)
        let later = PageRows(purchase("300000000003", app: "704000000003", token: Self.token))
        #expect(try await write(world, later).withheld == 1)
    }

    @Test func `texts of an older ledger are read by its first erasure, and only by that one`() async throws {
        let world = try await TestLedger()
        try await world.ledger.transaction { connection in
            try connection.script(
                """
                INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
                SELECT 1, 'j', 's', 'app', 'signature', CASE WHEN n = 120 THEN '\(Self.customer)' ELSE 'x' END,
                       sha256(int4send(n)), CASE WHEN n = 60 THEN 'of \(Self.customer)' ELSE 'of 200000000002' END::bytea
                  FROM generate_series(1, 130) n;
                INSERT INTO signing_headers (app_id, header_sha256, header) VALUES (1, '', 'e30');
                INSERT INTO notifications (app_id, notification_uuid, signed_date, payload_sha256, payload, transaction_id)
                SELECT 1, kind, now(), '', '{}', CASE WHEN kind = 'named' THEN '200000000002' END
                  FROM unnest(ARRAY['quoting', 'other', 'named']) kind;
                INSERT INTO signed_payloads (app_id, kind, record_key, signed_date, payload_sha256, header_id, payload, signature)
                SELECT 1, 'notification', kind, now(), '', 1,
                       CASE WHEN kind = 'other' THEN 'of 200000000002' ELSE 'of \(Self.customer)' END::bytea, ''
                  FROM unnest(ARRAY['quoting', 'other', 'named']) kind;
                INSERT INTO unread_texts (app_id, owner_kind, owner_key)
                SELECT app_id, 'rejected', record_id::text FROM rejected_records
                UNION ALL
                SELECT app_id, 'notification', notification_uuid FROM notifications WHERE transaction_id IS NULL;
                """
            )
        }
        #expect(try await world.count("unread_texts") == 132)
        let erasure = try await erase(world, Self.customer)
        #expect(
            erasure.removed == [
                .init(table: "notifications", rows: 1), .init(table: "rejected_records", rows: 2),
                .init(table: "signed_payloads", rows: 1),
            ]
        )
        let left = try await world.rows("SELECT notification_uuid FROM notifications ORDER BY 1")
        #expect(left == ["(named)", "(other)"])
        #expect(try await world.count("unread_texts") == 0)
        #expect(try await world.count("quoted_ids WHERE owner_kind = 'rejected'") == 128)
    }

    @Test func `after an erasure no sample of the app is left, and the next record brings one again`() async throws {
        let world = try await TestLedger()
        var rows = PageRows(purchase(Self.customer, app: "704000000001"))
        rows.drift = [
            SchemaDrift(kind: .transaction, path: "nickname", sample: "\"Alex of Springfield\""),
            SchemaDrift(kind: .transaction, path: "byCustomer.\(Self.customer)", sample: "1"),
        ]
        _ = try await write(world, rows)
        let samples = "SELECT path, sample FROM schema_drift ORDER BY path"
        // Nothing of this one was ever in the ledger.
        _ = try await erase(world, "300000000003")
        #expect(try await world.rows(samples).count == 2)
        #expect(try await world.value("(SELECT count(*) FROM schema_drift WHERE sample IS NULL)") == "0")

        let erasure = try await erase(world, Self.customer)
        #expect(erasure.removed == [.init(table: "schema_drift", rows: 1), .init(table: "transactions", rows: 1)])
        #expect(try await world.rows(samples) == ["(nickname,)"])
        var next = PageRows(purchase("200000000002", app: "704000000002"))
        next.drift = [SchemaDrift(kind: .transaction, path: "nickname", sample: "\"Sam\"")]
        _ = try await write(world, next)
        #expect(try await world.rows(samples) == [#"(nickname,"""Sam""")"#])
    }

    /// Columns whose statistics contain one of the customer's IDs.
    private func statistics(_ world: TestLedger) async throws -> [String] {
        try await world.rows(
            """
            SELECT s.starelid::regclass || '.' || a.attname FROM pg_statistic s
              JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum
              CROSS JOIN LATERAL concat_ws(' ', s.stavalues1::text, s.stavalues2::text, s.stavalues3::text,
                                           s.stavalues4::text, s.stavalues5::text) v
             WHERE v ~ '1000000000|704000000001|\(Self.tokenText)|Springfield'
             ORDER BY 1
            """
        )
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `no statistics of the planner contain a value of the erased, also of a table that is empty now`(
        layout: TestLedger.Layout
    )
        async throws
    {
        let world = try await TestLedger(layout)
        let (items, holder) = try await world.leased([Self.customer, "200000000002"])
        var rows = PageRows()
        for number in 1...9 {
            let id = "10000000000\(number)"
            rows.snapshots.append(purchase(id, app: "704000000001", token: Self.token))
            rows.archive.append(Rows.archived(.transaction, id, payload: "{}"))
        }
        for id in ["100000000002", "100000000003"] {
            rows.snapshots.append(
                Rows.snapshot(
                    Tables.refunds,
                    id,
                    cells: ["app_transaction_id": .text("704000000001"), "app_account_token": .uuid(Self.token)]
                )
            )
            rows.issues.append(
                FieldIssue(kind: .transaction, recordKey: id, path: "price", found: "x", signedDate: Rows.signedDate)
            )
        }
        rows.rejected = [Rows.rejected("of \(Self.customer)")]
        rows.drift = [SchemaDrift(kind: .transaction, path: "nickname", sample: "\"Alex of Springfield\"")]
        _ = try await world.ledger.commit(world.page(rows, of: items[0], for: holder))
        var others = PageRows()
        for number in 1...9 { others.snapshots.append(purchase("20000000000\(number)", app: "70400000002\(number)")) }
        _ = try await write(world, others)
        try await world.run("ANALYZE")
        let before = try await statistics(world)
        for column in [
            "transactions.app_account_token", "transactions.transaction_id", "refunds.app_transaction_id",
            "signed_payloads.record_key", "crawl_items.item_key", "field_issues.record_key",
        ] {
            #expect(before.contains { $0.contains(column) }, "\(column) of \(before)")
        }
        let erasure = try await erase(world, Self.customer)
        #expect(erasure.removed.contains(.init(table: "refunds", rows: 2)))
        #expect(try await world.count("refunds") == 0)
        try await world.ledger.renewStatistics()
        #expect(try await statistics(world) == [])
        #expect(try await world.count("stale_statistics") == 0)
        #expect(try await world.count("refunds") == 0)
        #expect(try await world.count("field_issues") == 0)
    }

    /// Calls `body` with the tables that an erasure can empty: those from which its role may remove rows.
    private func withErasableTables(_ world: TestLedger, _ body: ([String]) async throws -> Void) async throws {
        // The tables go with the roles, which own them.
        try await LedgerRoles.with { roles in
            let tables = try await world.rows(
                """
                SELECT c.relname FROM pg_class c
                 WHERE c.relnamespace = 'appstore'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                   AND has_table_privilege('\(roles.name("eraser"))', c.oid, 'DELETE')
                 ORDER BY 1
                """
            ).map { String($0.dropFirst().dropLast()) }
            try await body(tables)
        }
    }

    /// A statement that adds a row of the customer with a value in each column to a table.
    ///
    /// `number` is one digit, another one for each row of the table.
    private static func fill(_ table: String, _ number: Int) -> String {
        let id = customer.dropLast() + "\(number)"
        let token = tokenText.dropLast() + "\(number)"
        return """
            DO $$
            DECLARE
                names text;
                cells text;
            BEGIN
                SELECT string_agg(quote_ident(a.attname), ', '),
                       string_agg(CASE WHEN a.attname = 'app_id' THEN '(SELECT max(app_id) FROM apps)'
                                       WHEN a.attname = 'state' THEN '''failed'''
                                       WHEN c.allowed IS NOT NULL THEN c.allowed
                                       WHEN t.typname = 'bool' THEN 'true'
                                       WHEN t.typname = 'timestamptz' THEN 'now() - interval ''\(number) hours'''
                                       WHEN t.typname = 'jsonb' THEN '''{"id": "\(id)"}'''
                                       WHEN t.typname = 'uuid' THEN '''\(token)'''
                                       WHEN t.typcategory = 'A' THEN '''{\(id)}'''
                                       WHEN t.typname IN ('int2', 'int4') THEN '\(number)'
                                       ELSE '''\(id)''' END, ', ')
                  INTO names, cells
                  FROM pg_attribute a
                  JOIN pg_type t ON t.oid = a.atttypid
                  LEFT JOIN LATERAL (
                      SELECT substring(pg_get_constraintdef(oid) FROM 'ARRAY.([^],]+)') AS allowed FROM pg_constraint
                       WHERE conrelid = a.attrelid AND contype = 'c' AND conkey = ARRAY[a.attnum]
                  ) c ON true
                 WHERE a.attrelid = '\(table)'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                   AND a.attidentity = '' AND a.attgenerated = '' AND a.attname <> 'claimable_at';
                EXECUTE format('INSERT INTO \(table) (%s) VALUES (%s) ON CONFLICT DO NOTHING', names, cells);
            END $$
            """
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `RV1 each table that an erasure can empty loses its statistics, and the views can be refreshed`(
        layout: TestLedger.Layout
    ) async throws {
        let world = try await TestLedger(layout)
        try await withErasableTables(world) { tables in
            #expect(
                tables.count > 20 && tables.contains("received_notifications") && tables.contains("action_attempts")
            )
            for table in tables { for number in 1...3 { try await world.run(Self.fill(table, number)) } }
            try await world.run("ANALYZE")
            let analyzed = try await statistics(world)
            #expect(analyzed.count > 20, "\(analyzed)")
            // An export is going on, so that changes are logged.
            try await world.run(
                "INSERT INTO change_exports (app_id, job, format, tables, server) SELECT app_id, 'nightly', 'csv', '{transactions}', 'x' FROM apps"
            )
            for table in tables {
                try await world.run(
                    "DELETE FROM \(table); DELETE FROM changed_rows; INSERT INTO stale_statistics (table_name) VALUES ('\(table)')"
                )
                try await world.ledger.renewStatistics()
                #expect(try await world.count("stale_statistics") == 0, "\(table)")
                #expect(try await world.count(table) == 0)
                #expect(try await world.count("changed_rows") == 0, "\(table)")
            }
            #expect(try await statistics(world) == [])
            _ = try await world.ledger.refreshViews()
        }
    }

    @Test func `RV2 a table whose statistics cannot be renewed is reported, and neither the others nor the views wait`()
        async throws
    {
        let world = try await TestLedger()
        var rows = PageRows(purchase(Self.customer, app: "704000000001"), purchase("200000000002", app: "704000000002"))
        rows.issues = [
            FieldIssue(
                kind: .transaction,
                recordKey: Self.customer,
                path: "price",
                found: "x",
                signedDate: Rows.signedDate
            )
        ]
        _ = try await write(world, rows)
        try await world.run("ANALYZE transactions; ANALYZE field_issues")
        _ = try await erase(world, Self.customer)
        try await world.run("ALTER TABLE field_issues ADD CONSTRAINT hinders CHECK (path = 'price')")
        let stale = await #expect(throws: StaleStatistics.self) { try await world.ledger.renewStatistics() }
        #expect(stale?.tables == "field_issues" && stale?.failure?.contains("hinders") == true)
        #expect(try await !statistics(world).contains { $0.contains("transactions.") })
        _ = try await world.ledger.refreshViews()
        #expect(try await world.ledger.refreshViewsIfStale() == .upToDate(times: 0))
        #expect(try await world.ledger.staleStatistics() == stale)
        try await world.run("ALTER TABLE field_issues DROP CONSTRAINT hinders")
        _ = try await world.ledger.refreshViews()
        #expect(try await world.ledger.staleStatistics() == nil)
        #expect(try await statistics(world) == [])
    }

    @Test func `statistics that a killed erasure did not renew are renewed with the next refresh`() async throws {
        let world = try await TestLedger()
        _ = try await write(
            world,
            PageRows(purchase(Self.customer, app: "704000000001"), purchase("200000000002", app: "704000000002"))
        )
        try await world.run("ANALYZE transactions")
        _ = try await erase(world, Self.customer)
        #expect(try await !statistics(world).isEmpty)
        _ = try await world.ledger.refreshViews()
        #expect(try await statistics(world) == [])
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a listed ID whose history turns out to be an erased customer's leaves its item, gap and rejects`(
        layout: TestLedger.Layout
    )
        async throws
    {
        let world = try await TestLedger(layout)
        _ = try await write(world, PageRows(purchase("300000000003", app: "704000000001")))
        _ = try await erase(world, "300000000003")
        // Nothing in the ledger ties this ID to the erased customer yet.
        let (items, holder) = try await world.leased([Self.customer, "200000000002"])
        try await world.run(
            """
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            SELECT \(world.app.rawValue), 'nightly-sync', 'notificationHistory', id, now(), now(), 'x', \(holder.run)
              FROM unnest(ARRAY['\(Self.customer)', '200000000002']) id
            """
        )
        var first = items[0]
        try await world.commit(rejecting("not believed", hash: 3), of: &first, for: holder)

        // Neither record contains the listed ID, and the second one contains no ID of an erased customer.
        let page = PageRows(
            purchase("100000000004", app: "704000000001"),
            purchase("100000000005", app: "704000000009")
        )
        let counts = try await world.ledger.commit(world.page(page, of: first, for: holder))
        #expect(counts?.withheld == 2)
        let tables = try await world.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'appstore'")
        for table in tables.map({ $0.dropFirst().dropLast() }) {
            let traces = try await world.count("\(table) t WHERE position('10000000000' IN t::text) > 0")
            #expect(traces == 0, "\(table)")
        }
        let states = try await world.rows(
            "SELECT item_key ~ '^erased [0-9a-f]{16}$', state, records_withheld FROM crawl_items ORDER BY 2"
        )
        #expect(states == ["(t,done,2)", "(f,leased,0)"])
        let rejects = try await world.rows("SELECT raw = '', detail FROM rejected_records")
        #expect(rejects == ["(t,\"Of an erased customer.\")"])
        // The worker that crawled it has lost its lease, and the run continues to its end.
        first.pageSequence += 1
        #expect(try await world.ledger.commit(world.page(PageRows(), of: first, for: holder)) == nil)
        #expect(try await world.ledger.commit(world.page(PageRows(), of: items[1], for: holder, isLast: true)) != nil)
        let end = try await world.ledger.conclude(
            holder.run,
            app: world.app,
            job: holder.job,
            exitCode: nil,
            message: nil
        )
        #expect(end.isComplete && end.items == 2 && end.recordsWithheld == 2)
        // The next list does not bring it back.
        let next = try await world.begin("transactionHistory: {}", ids: [Self.customer, "200000000002"], restart: true)
        #expect(next.withheldIDs == 1)
        #expect(try await world.count("crawl_items WHERE item_key = '\(Self.customer)'") == 0)
    }

    @Test func `a tombstone that one environment's page teaches is known to the environment that lists the ID`()
        async throws
    {
        let world = try await TestLedger()
        let sandbox = try await world.ledger.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        _ = try await world.ledger.erase([.appTransaction("704000000001")], in: [world.app, sandbox])
        let (items, holder) = try await world.leased([Self.customer])
        let fallback = PageCommit(
            item: items[0],
            holder: holder,
            rows: PageRows(purchase("100000000004", app: "704000000001")),
            origin: RowOrigin(
                app: sandbox,
                job: holder.job,
                run: holder.run,
                stream: .transactionHistory,
                listedTransactionID: Self.customer
            ),
            cursor: nil,
            isLast: true,
            completeUntil: nil,
            requests: 1
        )
        #expect(try await world.ledger.commit(fallback)?.withheld == 1)
        #expect(try await world.count("crawl_items WHERE item_key = '\(Self.customer)'") == 0)
        let next = try await world.begin("transactionHistory: {}", ids: [Self.customer], restart: true)
        #expect(next.withheldIDs == 1)
    }

    @Test func `an erasure again by tombstones also finds what only texts name`() async throws {
        let world = try await TestLedger()
        _ = try await erase(world, Self.customer)
        // As a restore of an older backup brings it back: texts, and no column with the ID.
        try await world.run(
            """
            CREATE TABLE public.marks AS SELECT * FROM erased_marks; DELETE FROM erased_marks
            """
        )
        _ = try await write(world, rejecting("of \(Self.customer)", hash: 1))
        _ = try await write(world, notification("quoting", text: "of \(Self.customer)"))
        try await world.run("INSERT INTO erased_marks SELECT * FROM public.marks")
        let held = try await world.ledger.returnedErasedIDs(in: world.app)
        #expect(held.contains(.transaction(Self.customer)))
        _ = try await world.ledger.erase(held, in: [world.app])
        #expect(try await world.count("rejected_records") == 0)
        #expect(try await world.count("notifications") == 0)
    }

    /// Rows of a customer who has no records, by table.
    private static let unfinishedWork = [
        "changed_customers (app_id, transaction_id, signed_date) VALUES (1, '\(customer)', now())",
        """
        received_notifications (app_id, notification_uuid, version, original_transaction_id, received_at, last_received_at, body_sha256)
        VALUES (1, 'n', 1, '\(customer)', now(), now(), '')
        """,
        "forwards (app_id, destination, notification_uuid, customer) VALUES (1, 'https://a.example', 'n', '\(customer)')",
        """
        action_rows (app_id, batch_id, position, input, subject, verdict, state)
        VALUES (1, gen_random_uuid(), 1, '{\(customer)}', '\(customer)', 'valid', 'approved')
        """,
        """
        action_rows (app_id, batch_id, position, input, verdict, state)
        VALUES (1, gen_random_uuid(), 1, '{"see \(customer), please"}', 'invalid', 'skipped')
        """,
    ]

    @Test(arguments: unfinishedWork)
    func `ER9 an erasure again by tombstones also finds a customer who is only in a table of unfinished work`(
        row: String
    )
        async throws
    {
        let world = try await TestLedger()
        _ = try await erase(world, Self.customer)
        // As a restore of an older backup brings it back.
        try await world.run("INSERT INTO \(row)")
        let held = try await world.ledger.returnedErasedIDs(in: world.app)
        #expect(held == [.transaction(Self.customer)])
        _ = try await world.ledger.erase(held, in: [world.app])
        #expect(try await world.ledger.returnedErasedIDs(in: world.app).isEmpty)
    }

    @Test(
        arguments: ["of \(customer)", "\(tokenText.uppercased()) is the account", "ORDER-\(customer)", "M1B2C3D4E5"],
        [nil, "1"]
    )
    func `an erasure clears a row of a batch and a line of a report that name the customer in any cell`(
        cell: String,
        subject: String?
    ) async throws {
        let world = try await TestLedger()
        let subject = subject.map { "'\($0)'" } ?? "NULL"
        for (position, other) in [(1, cell), (2, "100000000009")] {
            try await world.run(
                """
                INSERT INTO action_rows (app_id, batch_id, position, input, subject, verdict, state)
                VALUES (1, '\(Self.tokenText)', \(position), '{1,"\(other)"}', \(subject), 'valid', 'approved')
                """
            )
            try await world.run(
                """
                INSERT INTO action_input_rows (app_id, batch_id, input_position, position, input)
                VALUES (1, '\(Self.tokenText)', \(position), \(position), '{kept,"\(other)"}')
                """
            )
        }
        let account = try #require(CustomerID.account(Self.tokenText))
        _ = try await world.ledger.erase(
            [.transaction(Self.customer), account, .order("M1B2C3D4E5")],
            in: [world.app]
        )
        let rows = "SELECT state, array_to_string(input, '+') FROM action_rows ORDER BY position"
        #expect(try await world.answer(rows) == ["cancelled ", "approved 1+100000000009"])
        let lines = "SELECT array_to_string(input, '+') FROM action_input_rows ORDER BY input_position"
        #expect(try await world.answer(lines) == ["kept+", "kept+100000000009"])
    }
}
