import AppStoreModel
import JobPlan
import TestSupport
import Testing

@testable import Erasure
@testable import Ledger
@testable import LedgerSchema

/// Answers that Apple does not sign: the newest is kept, and an erasure finds them.
@Suite(.migratedDatabase)
struct AnswerTests {
    private static let statuses =
        "SELECT original_transaction_id, status, transaction_id, asked_at FROM subscription_statuses"

    private func status(_ id: String, _ status: Int32) -> Answer {
        Answer(
            .subscriptionStatus,
            row: [.text(id), .text("21"), .integer(status), .text(id)]
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
        listed: String? = nil
    ) async throws -> RowCounts {
        var rows = PageRows()
        rows.answers = answers
        rows.snapshots = snapshots
        let origin = RowOrigin(
            app: world.app,
            job: "j",
            run: 1,
            stream: .subscriptionStatuses,
            listedTransactionID: listed,
            readAt: Jobs.now + .seconds(seconds)
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
        try await write(world, status("1", 1), asked: 70)
        #expect(try await world.value("SELECT last_changed_at FROM subscription_statuses") == changed)
        #expect(
            try await world.value("SELECT extract(epoch FROM asked_at)::bigint FROM subscription_statuses")
                == "\(Jobs.now.rawValue / 1_000 + 70)"
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

    /// A row about one customer, with the same text in every other column of text.
    private func row(of table: Table, _ kind: AnswerKind, customer: String) -> Row {
        table.columns.map { column in
            switch column.type {
            case _ where column.name == kind.customers.name && table == kind.customers.table: .text(customer)
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
            #expect(table.key[0] == kind.key && CSVOutput.knownTables.contains(table.name), "\(table.name)")
        }
        #expect(kind.table.key.count == 1 && tables.contains(kind.customers.table))
        _ = try await world.ledger.erase([.transaction(customer)], in: [world.app])
        #expect(try await write(world, answer, asked: 20).new == 0)
        for table in tables { #expect(try await world.count(table.name) == 0, "\(table.name)") }
    }

    @Test func `an answer of a kind that is not registered fails the page instead of being dropped`() async throws {
        let world = try await TestLedger()
        let customers = AnswerKind.TableColumn(table: Tables.refunds, name: "transaction_id")
        let answer = Answer(AnswerKind(table: Tables.refunds, customers: customers), row: [])
        await #expect(throws: LedgerError.self) { try await write(world, answer) }
    }
}
