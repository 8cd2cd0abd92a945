package import Basics

/// A lock was not available before the deadline.
///
/// The transaction has changed nothing.
package struct LockTimeout: ExplainedError, Equatable, Sendable {
    /// The locks whose holders the error names.
    package enum Scope: Equatable, Sendable {
        /// Locks on one table, stronger than a reader's.
        case table(String)
        /// Locks on any table or view of the schema, stronger than a reader's.
        case schema
        /// All locks, including readers': a change of the schema waits for readers too.
        case schemaWithReaders
        /// Transactions that began before the one with this number, a `xid8`.
        case transactions(before: String)
    }

    /// The reason for the wait, as in "waited 10 min for the views' refresh".
    package let purpose: String
    /// `nil` if the session's `lock_timeout` ended the wait: its default, or the transaction's setting.
    package let limit: Duration?
    /// At most four, strongest locks first; empty if the locks have been released since.
    package internal(set) var holders: [LockHolder] = []
    let scope: Scope

    package init(purpose: String, limit: Duration?, scope: Scope) {
        self.purpose = purpose
        self.limit = limit
        self.scope = scope
    }

    package var status: ExitStatus { .workLeft }

    package var sentence: String {
        let wait = "PostgreSQL: waited \(limit?.inWords ?? "too long") for \(purpose)"
        guard !holders.isEmpty else { return "\(wait); no session holds such a lock any more. Run again" }
        let names = holders.map(\.description).joined(separator: "; ")
        return "\(wait). Such locks are held by \(names). Wait until they are done, or end them "
            + "(pg_terminate_backend), and run again"
    }
}
