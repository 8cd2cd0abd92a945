import Glibc
import LedgerSchema
import Postgres

/// Locks one schema against other `migrate` commands during the lifetime of the value.
///
/// A separate session holds the lock, because the migrating session commits several times. Its transaction has no
/// snapshot, so that building an index concurrently does not wait for it.
struct MigrationLock: ~Copyable {
    private let session: PostgresConnection

    /// The errors of two sessions that create the same schema or table at the same time.
    private static let races: [SQLState] = [.uniqueViolation, .duplicateSchema, .duplicateTable, .duplicateObject]

    /// Creates the schema and the lock's table if they are missing, and takes the lock.
    ///
    /// - Parameters:
    ///   - ledger: The ledger with the schema.
    ///   - connection: Outside a transaction. It creates the schema and the table.
    /// - Throws: ``LockTimeout`` after ``Ledger/longLockTimeout``, ``Postgres/PostgresError``, `CancellationError`.
    init(ledger: Ledger, on connection: borrowing PostgresConnection) throws {
        try Self.makeTable(in: ledger.schema, on: connection)
        session = try Self.lockedSession(of: ledger)
    }

    private static func lockedSession(of ledger: Ledger) throws -> PostgresConnection {
        let session = try ledger.connectApart()
        let deadline = ContinuousClock.now + Ledger.longLockTimeout
        // Waits in steps, because a statement of this session cannot be cancelled.
        while try !take(session) {
            if Task.isCancelled { throw CancellationError() }
            guard ContinuousClock.now < deadline else {
                throw LockTimeout(
                    purpose: "another migrate",
                    limit: Ledger.longLockTimeout,
                    scope: .table(TableLock.migration.rawValue)
                )
            }
        }
        return session
    }

    private static func take(_ session: borrowing PostgresConnection) throws -> Bool {
        guard try !TableLock.migration.isHeld(on: session) else {
            usleep(200_000)
            return false
        }
        do {
            try session.begin()
            try session.script(
                "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '1s'; "
                    + TableLock.migration.exclusively
            )
            return true
        } catch SQLState.lockNotAvailable {
            try session.script("ROLLBACK")
            return false
        }
    }

    /// Checks that the session still holds the lock, without taking a snapshot.
    ///
    /// - Throws: ``Postgres/PostgresError`` if the session has ended.
    func check() throws { try session.script("SHOW lock_timeout") }

    func release() throws { try session.script("ROLLBACK") }

    private static func makeTable(in schema: String, on connection: borrowing PostgresConnection) throws {
        var attempt = 1
        while true {
            do {
                return try connection.transaction { connection in
                    // IF NOT EXISTS would need the privilege to create schemas even if the schema exists.
                    let found = try connection.run(
                        """
                        SELECT to_regnamespace(quote_ident($1::text)) IS NOT NULL AS schema,
                               to_regclass(quote_ident($1) || '.\(TableLock.migration.rawValue)') IS NOT NULL AS lock
                        """,
                        [.text(schema)]
                    )[0]
                    if try !found.bool("schema") { try connection.script("CREATE SCHEMA \"\(schema)\"") }
                    if try !found.bool("lock") { try connection.script(table(in: schema)) }
                }
            } catch let error as PostgresError where races.contains(error.state) && attempt < RetryingPool.attempts {
                // The other session has committed, because this one waited for its constraint.
                attempt += 1
            }
        }
    }

    private static func table(in schema: String) -> String {
        let name = "\"\(schema)\".\(TableLock.migration.rawValue)"
        return """
            CREATE UNLOGGED TABLE \(name) ();
            COMMENT ON TABLE \(name) IS 'Always empty: storeledger migrate locks it, so that one at a time changes the schema.'
            """
    }
}
