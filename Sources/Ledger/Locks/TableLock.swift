import Postgres

/// A table without columns that is locked and never written.
///
/// A lock on a table needs a right to write to it, so a role that only reads cannot take one; an advisory lock is open to
/// everybody who may connect.
enum TableLock: String {
    /// Pages, plans and replays take it in `ROW SHARE` mode (`erasure_key()`), an erasure in `EXCLUSIVE` mode.
    case erasure = "erasure_lock"
    /// A refresh of the materialised views takes it in `EXCLUSIVE` mode.
    case refresh = "refresh_lock"
    /// `migrate` takes it in `EXCLUSIVE` mode, on a session of its own.
    case migration = "migration_lock"

    /// Takes the lock for this transaction alone, or waits for it; takes no snapshot.
    var exclusively: String { "LOCK TABLE \(rawValue) IN EXCLUSIVE MODE" }
}
