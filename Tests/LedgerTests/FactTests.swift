import AppStoreModel
import Ledger
import LedgerSchema
import Postgres
import Status
import Streams
import TestSupport
import Testing

/// A signature without `price` and `currency`, as Apple made them for days, does not erase what an earlier one says.
@Suite(.migratedDatabase)
struct FactTests {
    /// Two purchases; with `lacks`, their signature leaves price and currency out.
    private func night(_ night: Int64, lacks: Bool = false) -> PageRows {
        var rows = PageRows()
        for (id, price) in [("10", Int64(4_990)), ("11", 9_990)] {
            var cells: [String: Cell] = [
                "original_transaction_id": .text(id), "product_id": .text("gold"), "type": .text("Consumable"),
                "purchase_date": .timestamp(Rows.signedDate), "quantity": .integer(1), "storefront": .text("USA"),
                "in_app_ownership_type": .text("PURCHASED"), "payload": .jsonb(Array("{\"night\": \(night)}".utf8)),
            ]
            if !lacks { cells.merge(["price_milliunits": .bigint(price), "currency": .text("USD")]) { _, new in new } }
            rows.snapshots.append(
                Rows.snapshot(
                    Tables.transactions,
                    id,
                    signed: Rows.signedDate + night,
                    hash: UInt8(night),
                    contentDigest: [UInt8](repeating: lacks ? 1 : 0, count: 32),
                    cells: cells
                )
            )
        }
        return rows
    }

    private func origin(_ world: TestLedger) -> RowOrigin {
        RowOrigin(app: world.app, job: "nightly-sync", run: 1, stream: .transactionHistory, listedTransactionID: nil)
    }

    private let revenue = "SELECT sum(gross_amount) FROM revenue_by_day"
    private let prices =
        "SELECT transaction_id, price_milliunits, currency, payload ->> 'night' AS night FROM transactions ORDER BY 1"
    private let complete = ["(10,4990,USD,2)", "(11,9990,USD,2)"]
    private let issues =
        "SELECT DISTINCT path, count(*) FROM field_issues WHERE found = '\(FieldIssue.leftOut)' GROUP BY 1 ORDER BY 1"
    private let bothIssues = ["(currency,2)", "(price,2)"]

    @Test(arguments: TestLedger.Layout.allCases, [false, true])
    func `a newer signature without price and currency keeps both, whichever comes first, and is reported`(
        layout: TestLedger.Layout,
        newestFirst: Bool
    ) async throws {
        let world = try await TestLedger(layout)
        let nights = newestFirst ? [night(2, lacks: true), night(1)] : [night(1), night(2, lacks: true)]
        #expect(try await world.ledger.write(nights[0], from: origin(world), mode: .fetched) == RowCounts(new: 2))
        _ = try await world.ledger.refreshViews()
        #expect(try await world.ledger.write(nights[1], from: origin(world), mode: .fetched) == RowCounts(updated: 2))
        #expect(try await world.rows(prices) == complete)
        #expect(try await world.rows(issues) == bothIssues)
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value(revenue) == "14.980")
        #expect(try await world.ledger.verifyViews().isEmpty)
        let status = try await world.ledger.status(
            of: "nightly-sync",
            app: world.app,
            bundleId: "com.example.game",
            environment: "Production"
        )
        let leftOut = try #require(status.leftOutFacts)
        #expect(leftOut.records == 2 && leftOut.fields == ["currency", "price"] && leftOut.example == "10")

        // The same pages again, also from the archive, write nothing.
        let before = try await world.rowVersions()
        for rows in nights + [night(2, lacks: true)] {
            #expect(try await world.ledger.write(rows, from: origin(world), mode: .fetched) == RowCounts(unchanged: 2))
        }
        #expect(try await world.rowVersions() == before)
        for rows in nights {
            #expect(
                try await world.ledger.write(rows, from: origin(world), mode: .replayedFromArchive)
                    == RowCounts(unchanged: 2)
            )
        }
        #expect(try await world.rows(prices) == complete)
        #expect(try await world.rows(issues) == bothIssues)
    }

    @Test func `a transaction that never had a price is counted until Apple signs one`() async throws {
        let world = try await TestLedger()
        let withoutPrice = {
            try await world.ledger.status(
                of: "nightly-sync",
                app: world.app,
                bundleId: "com.example.game",
                environment: "Production"
            ).withoutPrice
        }
        _ = try await world.ledger.write(night(1, lacks: true), from: origin(world), mode: .fetched)
        #expect(try await withoutPrice()?.transactions == 2)
        #expect(try await withoutPrice()?.example == "10")
        #expect(try await world.rows(issues) == [])
        _ = try await world.ledger.write(night(2), from: origin(world), mode: .fetched)
        #expect(try await withoutPrice() == nil)
    }

    @Test func `Apple's repair ends the report`() async throws {
        let world = try await TestLedger()
        for rows in [night(1), night(2, lacks: true), night(3)] {
            _ = try await world.ledger.write(rows, from: origin(world), mode: .fetched)
        }
        #expect(try await world.rows(prices) == ["(10,4990,USD,3)", "(11,9990,USD,3)"])
        #expect(try await world.rows(issues) == [])
    }

    @Test func `a replay gives a row the facts that only an older signature of the archive has`() async throws {
        let world = try await TestLedger()
        let (old, new) = (night(1), night(2, lacks: true))
        _ = try await world.ledger.write(new, from: origin(world), mode: .fetched)
        // Both signatures of a record are in one batch.
        var batch = new
        batch.snapshots = zip(new.snapshots, old.snapshots).map { $0.adding(factsOf: $1) }
        #expect(
            try await world.ledger.write(batch, from: origin(world), mode: .replayedFromArchive)
                == RowCounts(updated: 2)
        )
        #expect(try await world.rows(prices) == complete)
        #expect(try await world.rows(issues) == bothIssues)
        // A row that was removed by hand is restored completely.
        try await world.run("DELETE FROM transactions; DELETE FROM field_issues")
        #expect(
            try await world.ledger.write(batch, from: origin(world), mode: .replayedFromArchive) == RowCounts(new: 2)
        )
        #expect(try await world.rows(prices) == complete)
        #expect(try await world.rows(issues) == bothIssues)
    }

    @Test func `what a signature may take back is not kept`() async throws {
        let world = try await TestLedger()
        let cells: [String: Cell] = [
            "revocation_date": .timestamp(1), "revocation_reason": .integer(1),
            "app_account_token": .uuid([UInt8](repeating: 7, count: 16)), "is_upgraded": .boolean(true),
        ]
        let old = Rows.snapshot(Tables.transactions, "10", signed: 1, cells: cells)
        let new = Rows.snapshot(Tables.transactions, "10", signed: 2, hash: 2)
        for snapshot in [old, new] {
            _ = try await world.ledger.write(PageRows(snapshot), from: origin(world), mode: .fetched)
        }
        let left = "SELECT revocation_date, revocation_reason, app_account_token, is_upgraded FROM transactions"
        #expect(try await world.rows(left) == ["(,,,)"])
    }

    @Test(arguments: Tables.snapshots.filter { !$0.facts.isEmpty })
    func `each fact is a column of its table, and keeps its value in both orders`(_ table: Table) async throws {
        let world = try await TestLedger()
        let names = Set(table.facts.map(\.column))
        #expect(names.count == table.facts.count && names.isSubset(of: table.columns.map(\.name)))
        let cells = Dictionary(
            uniqueKeysWithValues: table.columns.filter { names.contains($0.name) }.map { column -> (String, Cell) in
                switch column.type {
                case .integer: (column.name, .integer(7))
                case .bigint: (column.name, .bigint(7))
                case .timestamptz: (column.name, .timestamp(7_000))
                default: (column.name, .text("seven"))
                }
            }
        )
        let snapshots = { (key: String) in
            [
                Rows.snapshot(table, key, signed: 1_000, cells: cells),
                Rows.snapshot(table, key, signed: 2_000, hash: 2),
            ]
        }
        for snapshot in snapshots("10") + snapshots("11").reversed() {
            _ = try await world.ledger.write(PageRows(snapshot), from: origin(world), mode: .fetched)
        }
        let known = table.facts.map { "\($0.column) IS NOT NULL" }.joined(separator: " AND ")
        #expect(try await world.count("\(table.name) WHERE \(known) AND content_hash IS NOT NULL") == 2)
        #expect(try await world.count("field_issues") == table.facts.count * 2)
    }
}
