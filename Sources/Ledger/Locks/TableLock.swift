import Postgres

/// An empty table that is used as a lock.
///
/// A table lock needs a write privilege, so a read-only role cannot take it. Any role that can connect could take an
/// advisory lock.
enum TableLock: String {
    /// Pages, plans and replays take it in `ROW SHARE` mode (`erasure_key()`), an erasure in `EXCLUSIVE` mode.
    case erasure = "erasure_lock"
    /// A refresh of the materialised views takes it in `EXCLUSIVE` mode.
    case refresh = "refresh_lock"
    /// `migrate` takes it in `EXCLUSIVE` mode, on a separate session.
    case migration = "migration_lock"

    /// A statement that takes the lock exclusively, without a snapshot.
    var exclusively: String { "LOCK TABLE \(rawValue) IN EXCLUSIVE MODE" }
}
