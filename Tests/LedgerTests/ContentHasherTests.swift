import LedgerSchema
import Postgres
import Testing

@testable import Ledger

/// The hash of a row must survive an upgrade that adds a column.
///
/// Otherwise the first run afterwards would write every row of the ledger again, and count all of them as updated.
struct ContentHasherTests {
    /// The table before a migration added columns to it.
    private static func withoutAddedColumns(_ table: Table) -> Table {
        Table(
            table.name,
            key: table.key,
            columns: table.columns.filter { !table.addedColumns.contains($0.name) }
        )
    }

    private static func hash(
        _ table: Table,
        _ cells: [String: Cell],
        contentDigest: [UInt8] = [1, 2, 3]
    ) throws -> Cell {
        var hasher = ContentHasher(of: table)
        return try hasher.hash(of: Rows.snapshot(table, "1", contentDigest: contentDigest, cells: cells))
    }

    @Test(arguments: Tables.snapshots)
    func `a column that a migration adds changes no hash while it is NULL`(_ table: Table) throws {
        let cells: [String: Cell] = ["app_transaction_id": .text("7"), "environment": .text("Production")]
        #expect(try Self.hash(table, cells) == Self.hash(Self.withoutAddedColumns(table), cells))
    }

    @Test(arguments: [Tables.transactions, Tables.renewals, Tables.notifications])
    func `a value in an added column changes the hash, by the value and by the column`(_ table: Table) throws {
        #expect(!table.addedColumns.isEmpty)
        let plain = try Self.hash(table, [:])
        var hashes = [plain]
        for column in table.columns where table.addedColumns.contains(column.name) {
            let values: [Cell] = column.type == .integer ? [.integer(1), .integer(2)] : [.text("a"), .text("b")]
            for value in values { hashes.append(try Self.hash(table, [column.name: value])) }
        }
        #expect(Set(hashes).count == hashes.count)
    }
}
