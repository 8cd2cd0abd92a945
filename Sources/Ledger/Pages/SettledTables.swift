import LedgerSchema
import Postgres
import Synchronization

/// Tables that are large enough for a session to reuse plans from page to page.
///
/// Such plans remain good unless the tables are emptied meanwhile.
///
/// Planning the few statements of a page takes a fifth of the page's time in PostgreSQL. But for a nearly empty table,
/// the planner may choose any index that begins with `app_id` instead of the primary key. If that plan is reused, it
/// reads all rows of the app for every row of a page: 40 ms a page at 15,000 rows.
final class SettledTables: Sendable {
    /// The size in bytes from which a planner without statistics prefers the primary key to an index of the app; of a
    /// partitioned table, the size of each partition.
    private static let size: Int64 = 1 << 20

    /// Pages between two checks of the sizes.
    private static let interval = 64

    private struct Known {
        var names: Set<String> = []
        var pagesSinceCheck = interval

        /// Counts a page that uses `tables`.
        ///
        /// - Returns: Whether to check the sizes again.
        mutating func isCheckDue(for tables: Set<String>) -> Bool {
            guard !tables.isSubset(of: names) else { return false }
            pagesSinceCheck += 1
            guard pagesSinceCheck > SettledTables.interval else { return false }
            pagesSinceCheck = 0
            return true
        }
    }

    private let known = Mutex(Known())

    /// Whether every table in which the page's statements look up rows is large enough.
    func includeTables(of rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) -> Bool {
        let tables = Self.tables(of: rows)
        if known.withLock({ $0.isCheckDue(for: tables) }) {
            let large = try connection.run(
                .largeTables,
                ["tables": .textArray(tables.sorted()), "bytes": .bigint(Self.size)]
            )
            var names: Set<String> = []
            for row in large { names.insert(try row.text("relname")) }
            known.withLock { [names] known in known.names.formUnion(names) }
        }
        return known.withLock { tables.isSubset(of: $0.names) }
    }

    private static func tables(of rows: PageRows) -> Set<String> {
        var tables: Set<String> = []
        for snapshot in rows.snapshots { tables.insert(snapshot.table.name) }
        if !rows.sendAttempts.isEmpty { tables.insert(Tables.notificationSendAttempts.name) }
        if !rows.archive.isEmpty { tables.insert(Tables.signedPayloads.name) }
        for answer in rows.answers {
            tables.formUnion([answer.kind.table.name] + answer.kind.children.map(\.name))
        }
        // An answer that is stored resolves its reject.
        if !rows.rejected.isEmpty || !rows.answers.isEmpty { tables.insert(Tables.rejectedRecords.name) }
        return tables
    }
}
