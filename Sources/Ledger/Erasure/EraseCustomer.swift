import LedgerTables
import Postgres
import Workers

/// What an erasure removed; its JSON form is documented in the README and stable.
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
    /// One transaction: killed in the middle, nothing has happened. A second time it finds nothing and changes nothing.
    ///
    /// - Parameters:
    ///   - ids: What names the customer; they need not be in the ledger.
    ///   - apps: The job's app in each environment it has records of.
    ///   - isRehearsal: Counts what would be removed and removes nothing.
    /// - Returns: What was, or would be, removed.
    /// - Throws: ``Postgres/PostgresError``, after a while also when pages or plans hold the app all the time.
    package func erase(_ ids: Set<CustomerID>, in apps: [AppID], isRehearsal: Bool = false) async throws -> Erasure {
        do {
            return try await transaction { connection in
                // Pages queue behind a waiting erasure, so it waits no longer than they can.
                try connection.script("SET LOCAL lock_timeout = '5s'; \(Self.usualPlanner)")
                let erasure = try Self.erase(ids, in: apps, on: connection)
                if isRehearsal { throw Rehearsed(erasure: erasure) }
                return erasure
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.erasure
        }
    }

    private static func erase(
        _ ids: Set<CustomerID>,
        in apps: [AppID],
        on connection: borrowing PostgresConnection
    ) throws -> Erasure {
        var books: [Tombstones] = []
        for app in apps.sorted(by: { $0.rawValue < $1.rawValue }) {
            books.append(try Tombstones.change(app, on: connection))
        }
        var trace = CustomerTrace(ids)
        // What one environment's records say leads on in the other: the same account, the same listed ID.
        for _ in 1...2 {
            for app in apps { try trace.follow(in: app, on: connection) }
        }
        var tombstones = 0
        var removed: [String: Int] = [:]
        for book in books {
            tombstones += try book.add(trace.ids, on: connection)
            crashPoint(.erasureMarked)
            var removal = CustomerRemoval(trace: trace, tombstones: book)
            try removal.remove(on: connection)
            removed.merge(removal.removed, uniquingKeysWith: +)
        }
        let counts = removed.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        return Erasure(removed: counts.map { .init(table: $0.key, rows: $0.value) }, tombstones: tombstones)
    }
}

/// Rolls a rehearsal back.
private struct Rehearsed: Error {
    let erasure: Erasure
}
