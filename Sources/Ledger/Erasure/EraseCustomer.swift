import LedgerTables
import Postgres
import Workers

/// What an erasure removed; its JSON form is documented in `docs/reference/json.md` and stable.
package struct Erasure: Codable, Equatable, Sendable {
    package struct Count: Codable, Equatable, Sendable {
        package let table: String
        package let rows: Int
    }

    /// Tables something was removed from.
    package let removed: [Count]
    /// IDs that had no tombstone before and have one now.
    package let tombstones: Int
}

extension Ledger {
    /// Removes everything a customer's IDs lead to, and leaves tombstones that keep it from coming back.
    ///
    /// The customer is traced twice. The first time nothing is locked, so pages go on while what was stored long ago is read
    /// into memory; its result is discarded. The second time the apps' erasure locks are held, and what it finds is what is
    /// removed. A page holds the lock of its app from before it looks at the tombstones until its commit. So each page has
    /// either committed before the second trace, which finds its records, or begins after the erasure has committed and
    /// finds the tombstones. The second trace begins at the IDs that were given, not at those of the first: a page in between
    /// may have shown that one of them names somebody else.
    ///
    /// The removal is one transaction: killed in the middle, nothing has happened. A second time it finds nothing and changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - ids: What names the customer; they need not be in the ledger.
    ///   - apps: The app in each environment the ledger has records of.
    ///   - isRehearsal: Counts what would be removed and removes nothing.
    ///   - locked: Called when the locks are held; they are held until the transaction ends.
    /// - Returns: What was, or would be, removed.
    /// - Throws: ``Postgres/PostgresError``, after a while also when pages or plans hold the app all the time.
    package func erase(
        _ ids: Set<CustomerID>,
        in apps: [AppID],
        isRehearsal: Bool = false,
        locked: @escaping @Sendable () -> Void = {}
    ) async throws -> Erasure {
        let apps = apps.sorted { $0.rawValue < $1.rawValue }
        for app in apps {
            var isMoreToRead = true
            while isMoreToRead {
                isMoreToRead = try await transaction { connection in
                    try QuotedIDs.readMore(of: app, on: connection)
                }
            }
        }
        try await transaction { connection in
            var trace = CustomerTrace(ids)
            try trace.follow(in: apps, on: connection)
        }
        do {
            return try await transaction { connection in
                // Pages queue behind a waiting erasure, so it waits no longer than they can.
                try connection.script("SET LOCAL lock_timeout = '5s'")
                let erasure = try Self.erase(ids, in: apps, locked: locked, on: connection)
                if isRehearsal { throw Rehearsed(erasure: erasure) }
                return erasure
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.erasure
        }
    }

    /// Renews the planner's statistics of the tables that erasures have removed rows from: statistics hold values of columns,
    /// and keep them when the rows are gone.
    ///
    /// Takes seconds for large tables, and blocks no reader or writer. Work that a killed process left is done as well.
    /// - Throws: ``Postgres/PostgresError``; the next call does what this one could not.
    package func renewStatistics() async throws {
        try await transaction { _ = try $0.run("SELECT analyze_erased_tables()") }
    }

    private static func erase(
        _ ids: Set<CustomerID>,
        in apps: [AppID],
        locked: () -> Void,
        on connection: borrowing PostgresConnection
    ) throws -> Erasure {
        var books: [Tombstones] = []
        for app in apps { books.append(try Tombstones.change(app, on: connection)) }
        locked()
        for app in apps {
            while try QuotedIDs.readMore(of: app, on: connection) {}
        }
        var trace = CustomerTrace(ids)
        try trace.follow(in: apps, on: connection)
        var tombstones = 0
        var removed: [String: Int] = [:]
        var changed: Set<String> = []
        for book in books {
            tombstones += try book.add(trace.ids, on: connection)
            crashPoint(.erasureMarked)
            var removal = CustomerRemoval(trace: trace, app: book.app)
            try removal.remove(on: connection)
            removed.merge(removal.removed, uniquingKeysWith: +)
            changed.formUnion(removal.changed)
        }
        let counts = removed.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        changed.formUnion(counts.map(\.key))
        _ = try connection.run(
            "INSERT INTO stale_statistics (table_name) SELECT unnest($1::text[])",
            [.textArray(changed.sorted())]
        )
        return Erasure(removed: counts.map { .init(table: $0.key, rows: $0.value) }, tombstones: tombstones)
    }
}

/// Rolls a rehearsal back.
private struct Rehearsed: Error {
    let erasure: Erasure
}
