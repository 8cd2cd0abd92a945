import Basics
package import Ledger
package import LedgerSchema
import Postgres

extension Ledger {
    /// Removes all records linked to a customer's IDs, and adds tombstones that withhold later records.
    ///
    /// The customer is traced twice. The first trace only brings old data into PostgreSQL's memory, so that the second
    /// is short. It takes no locks, so pages continue; its result is discarded. The second trace runs under the erasure
    /// lock, which excludes pages, and what it finds is removed.
    ///
    /// A page holds the lock in shared mode from before it reads the tombstones until its commit. So
    /// each page has either committed before the second trace, which finds its records, or starts after the erasure has
    /// committed, and finds the tombstones. The second trace starts from the given IDs, not from the IDs that the
    /// first trace found, because a page in between can have shown that one of them belongs to another customer.
    ///
    /// The removal is one transaction, so a killed process has changed nothing. It also takes the customer out of the rows
    /// that the views count; while a refresh is running, the next refresh does this. Repeating an erasure changes nothing.
    ///
    /// - Parameters:
    ///   - ids: IDs of the customer; they need not be in the ledger.
    ///   - apps: The app in each environment of which the ledger has records.
    ///   - dryRun: Whether to count only, and remove nothing.
    ///   - locked: Called when the lock is taken, in each attempt. The lock ends with the transaction.
    /// - Returns: The removed rows, or the rows that would be removed.
    /// - Throws: ``Postgres/PostgresError``, ``LockTimeout`` when pages or plans hold the lock for too long.
    package func erase(
        _ ids: Set<CustomerID>,
        in apps: [AppID],
        dryRun: Bool = false,
        locked: @escaping @Sendable () -> Void = {}
    ) async throws -> ErasureSummary {
        let apps = apps.sorted { $0.rawValue < $1.rawValue }
        for app in apps {
            var mayHaveMore = true
            while mayHaveMore {
                mayHaveMore = try await transaction { connection in
                    try UnreadTexts.readBatch(of: app, on: connection)
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
                let summary = try Self.erase(ids, in: apps, locked: locked, on: connection)
                if dryRun { throw DryRunEnded(summary: summary) }
                return summary
            }
        } catch let counted as DryRunEnded {
            return counted.summary
        }
    }

    /// Traces and removes a customer under the erasure lock, inside one transaction.
    private static func erase(
        _ ids: Set<CustomerID>,
        in apps: [AppID],
        locked: () -> Void,
        on connection: borrowing PostgresConnection
    ) throws -> ErasureSummary {
        var lockedApps: [Tombstones] = []
        for app in apps { lockedApps.append(try Tombstones.blockingPages(of: app, on: connection)) }
        locked()
        for app in apps {
            while try UnreadTexts.readBatch(of: app, on: connection) {}
        }
        var trace = CustomerTrace(ids)
        try trace.follow(in: apps, on: connection)
        var newTombstones = 0
        var removed: [String: Int] = [:]
        var changed: Set<String> = []
        for tombstones in lockedApps {
            newTombstones += try tombstones.add(trace.ids, on: connection)
            crashPoint(.erasureMarked)
            var removal = CustomerRemoval(trace: trace, app: tombstones.app)
            try removal.remove(on: connection)
            removed.merge(removal.removed, uniquingKeysWith: +)
            changed.formUnion(removal.changed)
            _ = try connection.run(
                "SELECT forget_erased($1::integer, $2::text[])",
                [.integer(tombstones.app.rawValue), .textArray(trace.ids.map(\.text).sorted())]
            )
        }
        let counts = removed.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        changed.formUnion(counts.map(\.key))
        _ = try connection.run(
            "INSERT INTO stale_statistics (table_name) SELECT unnest($1::text[])",
            [.textArray(changed.sorted())]
        )
        return ErasureSummary(removed: counts.map { .init(table: $0.key, rows: $0.value) }, tombstones: newTombstones)
    }
}

/// Thrown to roll back a dry run.
private struct DryRunEnded: Error {
    let summary: ErasureSummary
}
