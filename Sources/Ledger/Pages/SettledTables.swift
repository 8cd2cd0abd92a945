import LedgerSchema
import Postgres
import Synchronization

/// Tables that have grown so far that a plan made for them stays right, unless they are emptied meanwhile: a session may
/// keep it from page to page.
///
/// To plan the few statements of a page takes PostgreSQL a fifth of the page's time. But a plan made while a table is all
/// but empty takes any index that begins with `app_id` for as good as the primary key, and kept, reads all rows of the
/// app for every row of a page: 40 ms a page at 15,000 rows.
final class SettledTables: Sendable {
    /// Bytes from which on a planner without any statistics tells the primary key from an index of the app.
    private static let size: Int64 = 1 << 20

    /// Pages between two looks at the sizes.
    private static let interval = 64

    private struct Known {
        var names: Set<String> = []
        var pagesSinceLook = interval

        /// Whether it is time to look at the sizes again.
        mutating func isLookDue(for tables: Set<String>) -> Bool {
            guard !tables.isSubset(of: names) else { return false }
            pagesSinceLook += 1
            guard pagesSinceLook > SettledTables.interval else { return false }
            pagesSinceLook = 0
            return true
        }
    }

    private let known = Mutex(Known())

    /// Whether every table that the statements of a page look something up in is of that size.
    func hold(_ rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) -> Bool {
        let tables = Self.tables(of: rows)
        if known.withLock({ $0.isLookDue(for: tables) }) {
            let large = try connection.run(
                """
                SELECT relname FROM pg_class
                 WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1::text[])
                   AND pg_relation_size(oid) >= $2
                """,
                [.textArray(tables.sorted()), .bigint(Self.size)]
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
        return tables
    }
}
