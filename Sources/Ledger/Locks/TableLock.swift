import Postgres

/// An empty table that is used as a lock.
///
/// It is not an advisory lock, because any role that can connect could take one. A lock on a table needs a write
/// privilege, so a read-only role cannot take it.
enum TableLock: String {
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
    var exclusively: String { "LOCK TABLE \(rawValue) IN EXCLUSIVE MODE" }
}
