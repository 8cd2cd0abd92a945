import Postgres

/// What a refresh of the views did; its JSON form is stable and documented in `docs/reference/json.md`.
package struct RefreshReport: Codable, Sendable, Equatable {
    /// Whether everything was computed from every record.
    package let everything: Bool
    /// The number of subscriptions and other purchases that were computed.
    package let purchases: Int64
    /// The views whose figures may have changed, in the order of their creation.
    package let views: [String]
    package let milliseconds: Int64
}

/// A row of a view that differed from a computation from every record, or a stored row behind the views.
///
/// Its JSON form is stable and documented in `docs/reference/json.md`.
package struct ViewDifference: Codable, Sendable, Equatable {
    /// The view, or a table of stored rows such as `refresh_stored_periods`.
    package let view: String
    /// The key columns, as JSON.
    package let key: String
    /// The row that the view showed, as JSON; `nil` if it showed none.
    package let shown: String?
    /// The row that the records give, and that the view shows now, as JSON; `nil` if they give none.
    package let computed: String?
}

/// The result of ``Ledger/refreshViewsIfStale(begin:)``.
package enum RefreshOutcome: Sendable, Equatable {
    /// The views are up to date.
    ///
    /// This call refreshed them `times` times; 0 if they were not stale.
    case upToDate(times: Int)
    /// Another session is refreshing them.
    ///
    /// It checks for new changes afterwards.
    case leftToAnother
}

extension Ledger {
    /// Updates the totals that the views read, from one snapshot; readers see the old ones until the end.
    ///
    /// Only what changed since the last refresh is computed; see `docs/explanation/refresh.md`.
    ///
    /// - Parameter everything: Whether to compute everything from every record.
    /// - Throws: ``LockTimeout`` when another refresh takes longer than ``longLockTimeout``;
    ///   ``Postgres/PostgresError``.
    @discardableResult
    package func refreshViews(everything: Bool = false) async throws -> RefreshReport {
        guard
            let report = try await underRefreshLock({ try Self.refreshAll(everything: everything, on: $0) })
        else { throw LedgerError.invariant("a refresh returned nothing") }
        return report
    }

    /// Refreshes the views if nothing was computed yet or a definition changed, as after a migration.
    ///
    /// - Returns: What was done; `nil` if the definitions have not changed since the last refresh.
    /// - Throws: As ``refreshViews(everything:)``.
    package func refreshRedefinedViews() async throws -> RefreshReport? {
        let comparison = "SELECT definitions IS DISTINCT FROM refresh_definitions() AS differ FROM refresh_state"
        let isRedefined = try await transaction { try $0.run(comparison)[0].bool("differ") }
        guard isRedefined else { return nil }
        return try await underRefreshLock { try Self.refreshAll(onlyIfRedefined: true, on: $0) }
    }

    /// Refreshes the views, then computes everything from every record, in one snapshot.
    ///
    /// - Returns: The differences between the two, at most 100 for each view. They are corrected.
    /// - Throws: As ``refreshViews(everything:)``.
    package func verifyViews() async throws -> [ViewDifference] {
        try await underRefreshLock { connection in
            try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
            return try connection.run("SELECT view_name, key, shown, computed FROM verify_views()").map { row in
                ViewDifference(
                    view: try row.text("view_name"),
                    key: try row.text("key"),
                    shown: try row.textOrNil("shown"),
                    computed: try row.textOrNil("computed")
                )
            }
        }
    }

    /// Runs statements under the refresh lock, in a transaction whose snapshot is newer than the lock.
    private func underRefreshLock<R: Sendable>(
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        await renewLeftStatistics()
        let deadline = ContinuousClock.now + Self.longLockTimeout
        try await transaction { connection in
            try Self.takeRefreshLock(within: deadline - ContinuousClock.now, on: connection)
            _ = try connection.run("SELECT analyze_grown_tables()")
        }
        return try await transaction(.repeatableRead) { connection in
            try Self.takeRefreshLock(within: deadline - ContinuousClock.now, on: connection)
            return try body(connection)
        }
    }

    /// Refreshes the views if they may be stale.
    ///
    /// If several processes end a run at the same time, one refreshes. A process that sees its lock continues without a
    /// refresh. One that looked before the lock was taken waits for it: with NOWAIT, the server would log a refused lock as
    /// an error. Staleness is checked under the lock. The refreshing process checks again after its COMMIT, because other runs may have ended in the
    /// meantime. After ``refreshRounds`` refreshes, it leaves further changes to the next run.
    ///
    /// - Parameter begin: Called once, before a refresh, which can take minutes.
    /// - Throws: ``Postgres/PostgresError``, ``LockTimeout`` for a view that another session has locked.
    package func refreshViewsIfStale(begin: () -> Void = {}) async throws -> RefreshOutcome {
        var times = 0
        do {
            while times < Self.refreshRounds {
                let isStale = try await transaction { connection in
                    guard try !TableLock.refresh.isHeld(on: connection) else { throw RefreshUnderWay() }
                    try Self.takeRefreshLock(on: connection)
                    guard try Self.viewsAreStale(on: connection) else { return false }
                    _ = try connection.run("SELECT analyze_grown_tables()")
                    return true
                }
                guard isStale else { break }
                if times == 0 {
                    begin()
                    await renewLeftStatistics()
                }
                if try await pages.withConnection({ try TableLock.refresh.isHeld(on: $0) }) { throw RefreshUnderWay() }
                let isRefreshed = try await transaction(.repeatableRead) { connection in
                    try Self.takeRefreshLock(on: connection)
                    guard try Self.viewsAreStale(on: connection) else { return false }
                    _ = try Self.refreshAll(on: connection)
                    return true
                }
                if !isRefreshed { break }
                times += 1
            }
        } catch is RefreshUnderWay {
            return .leftToAnother
        }
        return .upToDate(times: times)
    }

    /// Renews the statistics that a killed or failed erasure did not renew.
    ///
    /// A failure does not stop the refresh: `stale_statistics` has the reason, and `doctor` reports it.
    private func renewLeftStatistics() async {
        try? await renewStatistics()
    }

    /// The most refreshes of one call.
    private static let refreshRounds = 3
    private static let refreshPurpose = "the refresh of the views"

    /// Takes the refresh lock.
    ///
    /// It must be the first statement of a `REPEATABLE READ` transaction: `LOCK` takes no snapshot, so the transaction's
    /// snapshot is newer than the lock.
    private static func takeRefreshLock(
        within limit: Duration = longLockTimeout,
        on connection: borrowing PostgresConnection
    ) throws {
        try waiting(limit, for: refreshPurpose, .table(TableLock.refresh.rawValue), on: connection) {
            try $0.script(TableLock.refresh.exclusively)
        }
    }

    /// - Returns: What was done; `nil` if nothing had to be.
    /// - Throws: ``LockTimeout`` if another session locks a table for longer than ``longLockTimeout``.
    private static func refreshAll(
        everything: Bool = false,
        onlyIfRedefined: Bool = false,
        on connection: borrowing PostgresConnection
    ) throws -> RefreshReport? {
        try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
        return try waiting(longLockTimeout, for: refreshPurpose, .schema, on: connection) { connection in
            try connection.run(
                "SELECT is_everything, purchases, changed_views, milliseconds FROM refresh_views($1::boolean, $2::boolean)",
                [.boolean(everything), .boolean(onlyIfRedefined)]
            ).map { row in
                RefreshReport(
                    everything: try row.bool("is_everything"),
                    purchases: try row.int64("purchases"),
                    views: try row.textArray("changed_views"),
                    milliseconds: try row.int64("milliseconds")
                )
            }.first
        }
    }

    /// Whether a refresh would change anything.
    ///
    /// A record changed, a date passed at which a view changes by itself, or a new day began in UTC.
    package func viewsAreStale() async throws -> Bool {
        try await transaction { try Self.viewsAreStale(on: $0) }
    }

    private static func viewsAreStale(on connection: borrowing PostgresConnection) throws -> Bool {
        try connection.run("SELECT views_are_stale() AS stale")[0].bool("stale")
    }
}

/// Another session is refreshing the views.
private struct RefreshUnderWay: Error {}
