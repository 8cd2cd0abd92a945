import LedgerSchema
import TestSupport
import Testing

/// What ``CustomerRows`` says of each table, compared with a migrated database.
@Suite(.migratedDatabase)
struct CustomerRowsTests {
    /// The tables for which a condition on `pg_class` is true, in order; the partitions of a table count as the table.
    private func tables(of world: TestLedger, where condition: String) async throws -> [String] {
        try await world.rows(
            """
            SELECT relname FROM pg_class
             WHERE relnamespace = 'appstore'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND \(condition)
            """
        ).map { String($0.dropFirst().dropLast()) }.sorted()
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `each table says how an erasure finds a customer's rows in it, and a new one that does not is noticed`(
        layout: TestLedger.Layout
    ) async throws {
        let world = try await TestLedger(layout)
        let declared = CustomerRows.all.map(\.table).sorted()
        // `forget_erased` and the next refresh remove a customer from the tables of a refresh.
        let others = "relname NOT LIKE 'refresh\\_%'"
        #expect(try await tables(of: world, where: others) == declared)
        for case .deleted(let owner) in CustomerRows.all.map(\.rows) { #expect(declared.contains(owner)) }
        try await world.run("CREATE TABLE forgotten (app_id integer, transaction_id text)")
        let undeclared = Set(try await tables(of: world, where: others)).subtracting(declared)
        #expect(undeclared == ["forgotten"])
    }

    @Test func `the eraser may delete from the tables from which an erasure deletes, and from no other`() async throws {
        let world = try await TestLedger()
        try await LedgerRoles.with { roles in
            let mayDelete = "has_table_privilege('\(roles.name("eraser"))', oid, 'DELETE')"
            let granted = try await tables(of: world, where: mayDelete)
            #expect(granted == CustomerRows.all.filter(\.rows.areDeleted).map(\.table).sorted())
        }
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `each column by which an erasure finds rows has an index`(layout: TestLedger.Layout) async throws {
        let world = try await TestLedger(layout)
        let indexes = try await world.rows(
            """
            SELECT (SELECT i.indrelid::regclass || '/' || string_agg(a.attname || '/', '' ORDER BY k.place)
                      FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place)
                      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number)
              FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = 'appstore'::regnamespace
             WHERE i.indpred IS NULL AND i.indexprs IS NULL AND i.indisvalid
            """
        )
        for (table, rows) in CustomerRows.all {
            for columns in rows.indexes {
                let start = ([table, "app_id"] + columns).joined(separator: "/")
                #expect(indexes.contains { $0.hasPrefix("(\(start)/") }, "\(start)")
            }
        }
    }
}

extension CustomerRows {
    /// Whether an erasure deletes rows of the table.
    fileprivate var areDeleted: Bool {
        switch self {
        case .actionRows, .inputCells, .runMessages, .kept: false
        default: true
        }
    }

    /// The columns with which an index must begin, after the app.
    fileprivate var indexes: [[String]] {
        switch self {
        case .keyed(let columns): columns.map { column in (column.kind.map { [$0.column] } ?? []) + [column.name] }
        case .items: [["job", "stream", "item_key"]]
        default: []
        }
    }
}
