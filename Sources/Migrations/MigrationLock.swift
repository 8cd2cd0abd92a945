import Ledger
import Platform
import Postgres

/// Locks one schema against other `migrate` commands during the lifetime of the value.
///
/// A separate session holds the lock, because the migrating session commits several times. Its transaction has no
/// snapshot, so that building an index concurrently does not wait for it.
struct MigrationLock: ~Copyable {
    private let session: PostgresConnection

    /// Creates the schema and the lock's table if they are missing, and takes the lock.
    ///
    /// - Parameter connection: Outside a transaction. It creates the schema and the table.
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
        // Building an index concurrently would wait for the snapshot of a session that waits for the lock.
        guard try !TableLock.migration.isHeld(on: session) else {
            usleep(200_000)
            return false
        }
        try session.begin()
        try session.script("SET LOCAL idle_in_transaction_session_timeout = 0")
        if try session.tryLock(TableLock.migration.exclusively, within: "1s") { return true }
        try session.script("ROLLBACK")
        return false
    }

    /// Checks that the session still holds the lock, without taking a snapshot.
    ///
    /// - Throws: ``Postgres/PostgresError`` if the session has ended.
    func check() throws { try session.script("SHOW lock_timeout") }

    func release() throws { try session.script("ROLLBACK") }

    /// Creates the schema and the lock's table if they are missing.
    ///
    /// If another session creates them at the same time, this one waits for its commit. An error that the block itself handles does
    /// not get into the server's log.
    private static func makeTable(in schema: String, on connection: borrowing PostgresConnection) throws {
        let table = "\"\(schema)\".\(TableLock.migration.rawValue)"
        // IF NOT EXISTS would need the privilege to create schemas even if the schema exists.
        try connection.script(
            """
            DO $$
            BEGIN
                IF to_regnamespace('"\(schema)"') IS NULL THEN CREATE SCHEMA "\(schema)"; END IF;
                IF to_regclass('\(table)') IS NULL THEN
                    CREATE UNLOGGED TABLE \(table) ();
                    COMMENT ON TABLE \(table) IS 'Always empty: storeledger migrate locks it, so that one at a time changes the schema.';
                END IF;
            EXCEPTION WHEN unique_violation OR duplicate_schema OR duplicate_table OR duplicate_object THEN NULL;
            END $$
            """
        )
    }
}
