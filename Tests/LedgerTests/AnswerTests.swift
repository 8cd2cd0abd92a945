import AppStoreModel
import JobFiles
import JobSyntax
import Planning
import Streams
import TestSupport
import Testing

@testable import Erasure
@testable import Ledger
@testable import LedgerSchema
@testable import Postgres

/// Answers that Apple does not sign: the newest is kept, and an erasure finds them.
@Suite(.migratedDatabase)
struct AnswerTests {
    private static let statuses =
        "SELECT original_transaction_id, status, transaction_id, asked_at FROM subscription_statuses"

    private func status(_ id: String, _ status: Int32, signed: UnixMilliseconds = Jobs.now) -> Answer {
        Answer(
            .subscriptionStatus,
            row: [.text(id), .text("21"), .integer(status), .text(id), .timestamp(signed.rawValue), .null]
        )
    }

    private func order(_ id: String, _ transactions: String..., isValid: Bool = true) -> Answer {
        let rows = transactions.map { [Cell.text(id), .text($0)] }
        return Answer(
            .order,
            row: [.text(id), .integer(isValid ? 0 : 1)],
            children: [ChildRows(table: Tables.orderTransactions, rows: rows)]
        )
    }

    @discardableResult
    private func write(
        _ world: TestLedger,
        _ answers: Answer...,
        snapshots: [Snapshot] = [],
        asked seconds: Int64 = 0,
        listed: String? = nil,
        order: String? = nil,
        rejected: [RejectedRecord] = [],
        statuses: [Int64]? = nil
    ) async throws -> RowCounts {
        var rows = PageRows()
        rows.answers = answers
        rows.snapshots = snapshots
        rows.rejected = rejected
        let origin = RowOrigin(
            app: world.app,
            job: "j",
            run: 1,
            stream: .subscriptionStatuses,
            listedTransactionID: listed,
            readAt: Jobs.now + .seconds(seconds),
            orderID: order,
            listedStatuses: statuses
        )
        return try await world.ledger.write(rows, from: origin, mode: .fetched)
    }

    @Test func `the newest answer is kept, in any order of arrival`() async throws {
        let world = try await TestLedger()
        try await write(world, status("1", 1), status("2", 2), asked: 10)
        try await write(world, status("1", 3), asked: 20)
        try await write(world, status("2", 5), asked: 5)
        #expect(
            try await world.rows("SELECT original_transaction_id, status FROM subscription_statuses ORDER BY 1")
                == ["(1,3)", "(2,2)"]
        )
    }

    @Test func `an equal answer changes only when it was asked`() async throws {
        let world = try await TestLedger()
        try await write(world, status("1", 1), asked: 10)
        let changed = try await world.value("SELECT last_changed_at FROM subscription_statuses")
        // Apple signs the records of each answer again.
        try await write(world, status("1", 1, signed: Jobs.now + .seconds(69)), asked: 70)
        #expect(try await world.value("SELECT last_changed_at FROM subscription_statuses") == changed)
        #expect(
            try await world.value("SELECT extract(epoch FROM asked_at)::bigint FROM subscription_statuses")
                == "\(Jobs.now.rawValue / 1_000 + 70)"
        )
        #expect(
            try await world.value("SELECT extract(epoch FROM records_signed_date)::bigint FROM subscription_statuses")
                == "\(Jobs.now.rawValue / 1_000 + 69)"
        )
        try await write(world, status("1", 4), asked: 80)
        #expect(try await world.value("SELECT last_changed_at FROM subscription_statuses") != changed)
    }

    @Test func `an order has the transactions of its newest lookup`() async throws {
        let world = try await TestLedger()
        try await write(world, order("A", "1", "2"), order("B", isValid: false), asked: 10)
        try await write(world, order("A", "2", "3"), asked: 20)
        try await write(world, order("A", "9"), asked: 15)
        #expect(try await world.rows("SELECT order_id, status FROM orders ORDER BY 1") == ["(A,0)", "(B,1)"])
        let transactions = "SELECT order_id, transaction_id FROM order_transactions ORDER BY 2"
        #expect(try await world.rows(transactions) == ["(A,2)", "(A,3)"])
        try await write(world, order("A", isValid: false), asked: 30)
        #expect(try await world.rows(transactions) == [])
    }

    @Test func `a contradictory status is one reject for every night, until an answer loads`() async throws {
        let world = try await TestLedger()
        let identity = [UInt8](repeating: 7, count: 32)
        let open = "SELECT seen_count, resolved_at IS NULL FROM rejected_records"
        func night(_ number: Int64, _ answers: [Answer] = []) async throws -> [String] {
            var rows = PageRows()
            rows.answers = answers
            if answers.isEmpty {
                let raw = Array("night \(number)".utf8)
                let detail = "It is of another subscription."
                rows.rejected = [
                    RejectedRecord(
                        reason: "contradiction",
                        detail: detail,
                        raw: raw,
                        sha256: identity,
                        identity: identity
                    )
                ]
            }
            let origin = RowOrigin(
                app: world.app,
                job: "j",
                run: number,
                stream: .subscriptionStatuses,
                listedTransactionID: "1",
                readAt: Jobs.now + .seconds(number * 86_400)
            )
            return try await world.ledger.write(rows, from: origin, mode: .fetched).newlyRejected
        }
        #expect(try await night(1) == ["contradiction"])
        #expect(try await night(2) == [])
        #expect(try await world.rows(open) == ["(2,t)"])
        #expect(try await world.value("SELECT convert_from(raw, 'UTF8') FROM rejected_records") == "night 2")
        let row: Row = [.text("1"), .text("21"), .integer(1), .text("1"), .null, .null]
        #expect(try await night(3, [Answer(.subscriptionStatus, row: row, rejectIdentity: identity)]) == [])
        #expect(try await world.rows(open) == ["(2,f)"])
        #expect(try await night(4) == ["contradiction"])
        #expect(try await world.rows(open) == ["(3,t)"])
    }

    @Test func `an erasure removes the statuses, orders and app transactions of its customer alone`() async throws {
        let world = try await TestLedger()
        for (id, app) in [("100000000001", "700000000000000001"), ("200000000002", "700000000000000002")] {
            let transaction = Rows.snapshot(
                Tables.transactions,
                id,
                cells: ["original_transaction_id": .text(id)]
            )
            try await write(world, status(id, 1), order("ORDER\(id)", id), snapshots: [transaction])
            // Found only by the ID for which Apple answered it: its customer's transactions do not name it.
            try await write(world, snapshots: [Rows.snapshot(Tables.appTransactions, app)], listed: id)
            try await world.run(
                """
                INSERT INTO runs (app_id, job, fingerprint, frozen_now, version) SELECT \(world.app.rawValue), 'j', '', now(), '1'
                 WHERE NOT EXISTS (SELECT FROM runs);
                INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint)
                VALUES (\(world.app.rawValue), 'j', 'orderLookup', 'ORDER\(id)', 1, 'done', '')
                """
            )
        }
        _ = try await world.ledger.erase([.transaction("100000000001")], in: [world.app])
        for (table, key) in [
            ("subscription_statuses", "original_transaction_id"), ("orders", "order_id"),
            ("order_transactions", "transaction_id"), ("app_transactions", "app_transaction_id"),
            ("crawl_items", "item_key"),
        ] {
            let left = try await world.rows("SELECT \(key) FROM \(table)")
            #expect(left.count == 1 && left.first?.contains("2") == true, "\(table): \(left)")
        }
        #expect(try await world.count("quoted_ids") == 1)
    }

    @Test func `answers about an erased customer are not stored again`() async throws {
        let world = try await TestLedger()
        let id = "100000000001"
        try await write(world, status(id, 1), order("A", id))
        try await write(world, snapshots: [Rows.snapshot(Tables.appTransactions, "700000000000000001")], listed: id)
        _ = try await world.ledger.erase([.transaction(id)], in: [world.app])
        try await write(world, status(id, 1), order("A", id), order("B", "200000000002"), asked: 60)
        try await write(world, snapshots: [Rows.snapshot(Tables.appTransactions, "700000000000000001")], asked: 60)
        #expect(try await world.count("subscription_statuses") == 0)
        #expect(try await world.rows("SELECT order_id FROM orders") == ["(B)"])
        #expect(try await world.count("app_transactions") == 0)
    }

    @Test func `a subscription that an answer no longer has loses its status, if the answer would have it`()
        async throws
    {
        let world = try await TestLedger()
        let filter: [Int64] = [1, 3]
        try await write(
            world,
            status("1", 3),
            status("2", 1),
            status("3", 2),
            snapshots: ["1", "2", "3"].map(transaction),
            listed: "1",
            statuses: []
        )
        try await write(world, status("9", 3), snapshots: [transaction("9")], listed: "9", statuses: filter)
        let ended = "SELECT original_transaction_id FROM subscription_statuses WHERE ended_at IS NOT NULL ORDER BY 1"
        // Another stream's page, an answer with a reject, and an older answer end nothing.
        try await write(world, asked: 10, listed: "1")
        try await write(world, asked: 10, listed: "1", rejected: [reject("x", 1)], statuses: filter)
        try await write(world, asked: -10, listed: "1", statuses: filter)
        #expect(try await world.rows(ended) == [])
        // Status 2 is not in the filter, and subscription 9 is another customer's.
        #expect(try await write(world, status("2", 1), asked: 20, listed: "1", statuses: filter).updated == 1)
        #expect(try await world.rows(ended) == ["(1)"])
        #expect(try await write(world, status("2", 1), asked: 30, listed: "1", statuses: filter).updated == 0)
        // An answer from before does not bring the status back; a newer one does.
        try await write(world, status("1", 3), asked: 15, listed: "1", statuses: filter)
        #expect(try await world.rows(ended) == ["(1)"])
        #expect(try await write(world, status("1", 3), asked: 40, listed: "1", statuses: filter).updated == 2)
        #expect(try await world.rows(ended) == ["(2)"])
        // Without a filter an answer has every subscription.
        try await write(world, asked: 50, listed: "1", statuses: [])
        #expect(try await world.rows(ended) == ["(1)", "(2)", "(3)"])
    }

    private func transaction(_ id: String) -> Snapshot {
        Rows.snapshot(Tables.transactions, id, cells: ["original_transaction_id": .text(id)])
    }

    private func reject(_ text: String, _ seed: UInt8) -> RejectedRecord {
        let sha256 = [UInt8](repeating: seed, count: 32)
        return RejectedRecord(reason: "bundle", detail: "It is of another app.", raw: Array(text.utf8), sha256: sha256)
    }

    @Test func `an erasure removes the customer's order IDs, and the orders are not planned again`()
        async throws
    {
        let world = try await TestLedger()
        let customer = "100000000001"
        // Order C is called invalid later; of order D one transaction was rejected, so it has no answer.
        try await write(world, order("A", customer), snapshots: [transaction(customer)], order: "A")
        try await write(world, order("C", customer), snapshots: [transaction(customer)], order: "C")
        try await write(world, order("C", isValid: false), asked: 10, order: "C")
        try await write(world, snapshots: [transaction(customer)], order: "D", rejected: [reject("x", 1)])
        try await write(world, order("B", "200000000002"), snapshots: [transaction("200000000002")], order: "B")
        let orders = ["A", "B", "C", "D"]
        func begin(_ now: UnixMilliseconds) async throws -> StartedRun {
            let list = orders.joined(separator: ", ")
            let job = try await Jobs.load(streams: "orderLookup: {orderIds: {list: [\(list)]}}")
            let lists = RunLists(
                transactions: .none,
                own: [(stream: .orderLookup, kind: .order, ids: .feed { take in try take(orders) })]
            )
            return try await world.ledger.beginOrJoin(world.plan(job, now: now, restart: false), lists)
        }
        try await world.finish(begin(Jobs.now).run, cursor: nil)
        #expect(try await world.rows("SELECT item_key FROM crawl_items ORDER BY 1") == orders.map { "(\($0))" })
        // A replay writes no item key; a page does.
        try await world.run("UPDATE rejected_records SET item_key = 'D'")
        _ = try await world.ledger.erase([.transaction(customer)], in: [world.app])
        #expect(try await world.rows("SELECT item_key FROM crawl_items") == ["(B)"])
        #expect(try await world.rows("SELECT order_id FROM orders") == ["(B)"])
        #expect(try await world.count("rejected_records") == 0)
        #expect(try await world.rows("SELECT owner_key FROM quoted_ids") == ["(B)"])
        // The order's own ID has a tombstone.
        let start = try await begin(.daysAfter(1))
        #expect(start.withheldIDs == 3)
        #expect(try await world.rows("SELECT item_key FROM crawl_items") == ["(B)"])
    }

    @Test func `an order that shows only now to be an erased customer's leaves no order ID`() async throws {
        let world = try await TestLedger()
        let customer = "100000000001"
        try await write(world, snapshots: [transaction(customer)])
        _ = try await world.ledger.erase([.transaction(customer)], in: [world.app])
        try await world.run(
            """
            INSERT INTO runs (app_id, job, fingerprint, frozen_now, version) VALUES (\(world.app.rawValue), 'j', '', now(), '1');
            INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint)
            VALUES (\(world.app.rawValue), 'j', 'orderLookup', 'A', 1, 'done', '')
            """
        )
        try await write(world, order("A", customer), snapshots: [transaction(customer)], order: "A")
        #expect(try await world.count("orders") == 0)
        #expect(try await world.value("SELECT item_key LIKE 'erased %' FROM crawl_items") == "true")
        // Then Apple calls the order invalid: nothing but the order ID says whose it was.
        try await write(world, order("A", isValid: false), asked: 60, order: "A")
        #expect(try await world.count("orders") == 0)
    }

    @Test func `an order ID that has only digits is not mistaken for a customer whose refunds are due`() async throws {
        let world = try await TestLedger()
        let streams =
            "transactionHistory: {}, refundHistory: {for: revoked}, orderLookup: {orderIds: {list: [\"123456789012\"]}}"
        let plan = world.plan(try await Jobs.load(streams: streams), now: Jobs.now, restart: false)
        let lists = RunLists(
            transactions: .feed { take in try take([]) },
            own: [(stream: .orderLookup, kind: .order, ids: .feed { take in try take(["123456789012"]) })]
        )
        let start = try await world.ledger.beginOrJoin(plan, lists)
        let holder = world.holder(of: start.run)
        var rows = PageRows()
        rows.sawRevocation = true
        for item in try await world.take(.orderLookup, 1, for: holder) {
            _ = try await world.ledger.commit(
                world.page(
                    rows,
                    of: item,
                    for: holder,
                    cursor: nil,
                    isLast: true,
                    completeUntil: Jobs.now,
                    readAt: Jobs.now
                )
            )
        }
        #expect(
            try await world.rows("SELECT stream, state, saw_revocation FROM crawl_items") == ["(orderLookup,done,t)"]
        )
        #expect(try await world.ledger.planLastPhase(plan, run: start.run))
        #expect(try await world.rows("SELECT stream FROM crawl_items") == ["(orderLookup)"])
    }

    /// A row about one customer, with the same text in every other column of text.
    private func row(of table: Table, _ kind: AnswerKind, customer: String) -> Row {
        table.columns.map { column in
            switch column.type {
            case _ where kind.customers.contains { $0.name == column.name }: .text(customer)
            case .text: .text("1")
            case .integer: .integer(1)
            default: .null
            }
        }
    }

    @Test(arguments: AnswerKind.all)
    func `an answer of any registered kind is stored with its children, counted, erased and not stored again`(
        kind: AnswerKind
    ) async throws {
        let world = try await TestLedger()
        let customer = "100000000001"
        let tables = [kind.table] + kind.children
        let answer = Answer(
            kind,
            row: row(of: kind.table, kind, customer: customer),
            children: kind.children.map { ChildRows(table: $0, rows: [row(of: $0, kind, customer: customer)]) }
        )
        #expect(try await write(world, answer).new == 1)
        #expect(try await write(world, answer, asked: 10).unchanged == 1)
        for table in tables {
            #expect(try await world.count(table.name) == 1, "\(table.name)")
            #expect(table.columns.contains { $0.name == kind.key }, "\(table.name)")
            #expect(FileOutput.knownTables.contains(table.name), "\(table.name)")
        }
        #expect(kind.table.key.count == 1 || kind.children.isEmpty)
        #expect(kind.customers.allSatisfy { tables.contains($0.table) })
        _ = try await world.ledger.erase([.transaction(customer), .appTransaction(customer)], in: [world.app])
        #expect(try await write(world, answer, asked: 20).new == 0)
        for table in tables { #expect(try await world.count(table.name) == 0, "\(table.name)") }
    }

    @Test func `an answer of a kind that is not registered fails the page instead of being dropped`() async throws {
        let world = try await TestLedger()
        let customers = AnswerKind.TableColumn(table: Tables.refunds, name: "transaction_id")
        let answer = Answer(AnswerKind(table: Tables.refunds, customers: [customers]), row: [])
        await #expect(throws: LedgerError.self) { try await write(world, answer) }
    }
}
