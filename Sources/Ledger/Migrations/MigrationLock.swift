import LedgerTables
import Postgres

/// Keeps every other `migrate` out of one schema, for as long as the value lives.
///
/// A session of its own holds the lock, because the one that works commits several times. It rests inside a transaction
/// without a snapshot, so that an index that is built concurrently does not wait for it.
struct MigrationLock: ~Copyable {
    private let session: PostgresConnection

    /// What two sessions that make the same schema or table at once can get.
    private static let races: [SQLState] = [.uniqueViolation, .duplicateSchema, .duplicateTable, .duplicateObject]

    /// Makes the schema and the lock's table where they are missing, and takes the lock.
    ///
    /// - Parameters:
    ///   - ledger: Whose schema.
    ///   - connection: Outside a transaction; only makes what is missing.
    /// - Throws: ``LockTimeout`` after ``Ledger/longLockPatience``, ``Postgres/PostgresError``, `CancellationError`.
    init(ledger: Ledger, on connection: borrowing PostgresConnection) throws {
        try Self.makeTable(in: ledger.schema, on: connection)
        session = try Self.lockedSession(of: ledger)
    }

    private static func lockedSession(of ledger: Ledger) throws -> PostgresConnection {
        let session = try ledger.connectApart()
        let deadline = ContinuousClock.now + Ledger.longLockPatience
        // Waits by the second, because no signal reaches a statement of this session.
        while try !take(session) {
            if Task.isCancelled { throw CancellationError() }
            guard ContinuousClock.now < deadline else {
                throw LockTimeout(
                    purpose: "another migrate",
                    limit: Ledger.longLockPatience,
                    scope: .table(TableLock.migration.rawValue)
                )
            }
        }
        return session
    }

    private static func take(_ session: borrowing PostgresConnection) throws -> Bool {
        do {
            try session.script(
                "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '1s'; "
                    + TableLock.migration.exclusively
            )
            return true
        } catch SQLState.lockNotAvailable {
            try session.script("ROLLBACK")
            return false
        }
    }

    /// Makes sure that the session still holds the lock; takes no snapshot.
    ///
    /// - Throws: ``Postgres/PostgresError`` when the session has ended.
    func check() throws { try session.script("SHOW lock_timeout") }

    func release() throws { try session.script("ROLLBACK") }

    private static func makeTable(in schema: String, on connection: borrowing PostgresConnection) throws {
        var attempt = 1
        while true {
            do {
                return try connection.transaction { connection in
                    // IF NOT EXISTS would ask for the right to create schemas even where there is nothing to create.
                    let found = try connection.run(
                        """
                        SELECT to_regnamespace(quote_ident($1::text)) IS NOT NULL AS schema,
                               to_regclass(quote_ident($1) || '.\(TableLock.migration.rawValue)') IS NOT NULL AS lock
                        """,
                        [.text(schema)]
                    )[0]
                    if try !found.bool("schema") { try connection.script("CREATE SCHEMA \"\(schema)\"") }
                    if try !found.bool("lock") { try connection.script(table) }
                }
            } catch let error as PostgresError where races.contains(error.state) && attempt < Ledger.attempts {
                // The other one has committed: its constraint was waited for.
                attempt += 1
            }
        }
    }

    private static let table = """
        CREATE UNLOGGED TABLE \(TableLock.migration.rawValue) ();
        COMMENT ON TABLE \(TableLock.migration.rawValue) IS 'Always empty: storeledger migrate locks it, so that one at a time changes the schema.'
        """
}
