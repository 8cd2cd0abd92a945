import Postgres

extension Ledger {
    /// Waits until every transaction has ended that began before this call.
    ///
    /// What a committed row switches on, such as the log of changes, is unknown to a transaction that began before this commit. A
    /// transaction that begins after the commit takes the number up to which it waits, because the numbers only grow. The
    /// number of the committing transaction would miss those that began before its commit, and the `xmax` of a snapshot those
    /// that began after the last transaction that has ended.
    ///
    /// - Parameters:
    ///   - purpose: See ``Postgres/LockTimeout/purpose``.
    ///   - limit: The longest wait.
    /// - Throws: ``Postgres/LockTimeout``, which names the open transactions, after ``longLockTimeout``;
    ///   ``Postgres/PostgresError``.
    package func waitForOpenTransactions(_ purpose: String, atMost limit: Duration = longLockTimeout) async throws {
        let next = try await transaction { connection in
            try connection.run("SELECT pg_current_xact_id()::text AS next")[0].text("next")
        }
        let deadline = ContinuousClock.now + limit
        try await pages.namingHolders {
            while true {
                let isSettled = try await transaction(.readOnlySnapshot) { connection in
                    try connection.run(
                        "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8 AS is_settled",
                        [.text(next)]
                    )[0].bool("is_settled")
                }
                if isSettled { return }
                guard ContinuousClock.now < deadline else {
                    throw LockTimeout(purpose: purpose, limit: limit, scope: .transactions(before: next))
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
