package import Postgres

/// An empty table that is used as a lock.
///
/// It is not an advisory lock, because any role that can connect could take one. A lock on a table needs a write
/// privilege, so a read-only role cannot take it.
package enum TableLock: String {
    /// Pages, plans and replays take it in `ROW SHARE` mode (`erasure_key()`), an erasure in `EXCLUSIVE` mode.
    case erasure = "erasure_lock"
    /// A refresh of the views takes it in `EXCLUSIVE` mode.
    case refresh = "refresh_lock"
    /// `migrate` takes it in `EXCLUSIVE` mode, on a separate session.
    case migration = "migration_lock"

    /// A statement that takes the lock in `EXCLUSIVE` mode.
    ///
    /// It takes no snapshot. If it is the first statement of a transaction, the transaction's snapshot is newer than
    /// the lock.
    package var exclusively: String { "LOCK TABLE \(rawValue) IN EXCLUSIVE MODE" }

    /// Whether a session holds the lock in `EXCLUSIVE` mode.
    ///
    /// Asking first avoids an attempt that fails, which the server logs as an error.
    package func isHeld(on connection: borrowing PostgresConnection) throws -> Bool {
        try connection.run(
            """
            SELECT EXISTS (SELECT FROM pg_locks WHERE relation = to_regclass($1) AND mode = 'ExclusiveLock' AND granted
                              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held
            """,
            [.text(rawValue)]
        )[0].bool("held")
    }
}
