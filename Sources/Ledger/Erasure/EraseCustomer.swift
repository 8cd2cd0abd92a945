import Basics
package import LedgerSchema
import Postgres

/// The result of an erasure; its JSON form is stable and documented in `docs/reference/json.md`.
package struct Erasure: Codable, Equatable, Sendable {
    package struct Count: Codable, Equatable, Sendable {
        package let table: String
        package let rows: Int
    }

    /// The number of removed rows by table.
    package let removed: [Count]
    /// The number of new tombstones.
    package let tombstones: Int
}

extension Ledger {
    /// Removes all records linked to a customer's IDs, and adds tombstones that withhold later records.
    ///
    /// The customer is traced twice. The first trace takes no locks, so that pages continue while old data is read into
    /// memory; its result is discarded. The second trace holds the erasure locks of the apps, and its result is
    /// removed. A page holds the lock of its app from before it reads the tombstones until its commit. So each page has
    /// either committed before the second trace, which finds its records, or starts after the erasure has committed,
    /// and finds the tombstones. The second trace starts from the given IDs, not from those of the first trace, because
    /// a page in between can have shown that one of those IDs belongs to another customer.
    ///
    /// The removal is one transaction, so a killed process has changed nothing. Repeating an erasure changes nothing.
    ///
    /// - Parameters:
    ///   - ids: IDs of the customer; they need not be in the ledger.
    ///   - apps: The app in each environment of which the ledger has records.
    ///   - isRehearsal: Whether to count only, and remove nothing.
    ///   - locked: Called when the locks are held. They are held until the transaction ends.
    /// - Returns: The removed rows, or those that would be removed.
    /// - Throws: ``Postgres/PostgresError``, also when pages or plans hold the app's lock for too long.
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
                // New pages wait behind a waiting erasure, so the wait must be short.
                try connection.script("SET LOCAL lock_timeout = '5s'")
                let erasure = try Self.erase(ids, in: apps, locked: locked, on: connection)
                if isRehearsal { throw Rehearsed(erasure: erasure) }
                return erasure
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.erasure
        }
    }

    /// Renews the planner's statistics of tables from which erasures have removed rows.
    ///
    /// Statistics contain column values, and keep them after the rows are removed. The call takes seconds for large
    /// tables and does not block readers or writers. It includes tables that a killed process has left.
    /// - Throws: ``Postgres/PostgresError``. The next call then includes the same tables.
    package func renewStatistics() async throws {
        try await transaction { _ = try $0.run("SELECT analyze_erased_tables()") }
    }

    private static func erase(
        _ ids: Set<CustomerID>,
        in apps: [AppID],
        locked: () -> Void,
        on connection: borrowing PostgresConnection
    ) throws -> Erasure {
        var appTombstones: [Tombstones] = []
        for app in apps { appTombstones.append(try Tombstones.change(app, on: connection)) }
        locked()
        for app in apps {
            while try QuotedIDs.readMore(of: app, on: connection) {}
        }
        var trace = CustomerTrace(ids)
        try trace.follow(in: apps, on: connection)
        var newTombstones = 0
        var removed: [String: Int] = [:]
        var changed: Set<String> = []
        for entry in appTombstones {
            newTombstones += try entry.add(trace.ids, on: connection)
            crashPoint(.erasureMarked)
            var removal = CustomerRemoval(trace: trace, app: entry.app)
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
        return Erasure(removed: counts.map { .init(table: $0.key, rows: $0.value) }, tombstones: newTombstones)
    }
}

/// Thrown to roll back a rehearsal.
private struct Rehearsed: Error {
    let erasure: Erasure
}
