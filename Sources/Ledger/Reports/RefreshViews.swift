import LedgerSchema
import Postgres

/// A refreshed materialized view; its JSON form is stable and documented in `docs/reference/json.md`.
package struct RefreshedView: Codable, Sendable, Equatable {
    package let view: String
    package let rows: Int64
    package let milliseconds: Int64
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
    /// Refreshes the materialized views, all from one snapshot; readers see the old rows until the end.
    ///
    /// - Parameter onlyEmpty: Whether to refresh only views that were never filled, as after a migration.
    /// - Returns: The views, in the order of their creation.
    /// - Throws: ``LockTimeout`` when another refresh takes longer than ``longLockTimeout``;
    ///   ``Postgres/PostgresError``.
    package func refreshViews(onlyEmpty: Bool = false) async throws -> [RefreshedView] {
        // What an erasure that was killed left to do.
        try await renewStatistics()
        let deadline = ContinuousClock.now + Self.longLockTimeout
        let lock = { @Sendable (connection: borrowing PostgresConnection) in
            let left = deadline - ContinuousClock.now
            try Self.waiting(left, for: Self.refreshPurpose, .table(TableLock.refresh.rawValue), on: connection) {
                try $0.script(TableLock.refresh.exclusively)
            }
        }
        try await transaction { connection in
            try lock(connection)
            _ = try connection.run("SELECT analyze_grown_tables()")
        }
        return try await transaction(.repeatableRead) { connection in
            try lock(connection)
            return try Self.refreshAll(onlyEmpty: onlyEmpty, on: connection)
        }
    }

    /// Refreshes the materialized views if they may be stale.
    ///
    /// If several processes end a run at the same time, one refreshes, and the others continue. Staleness is checked
    /// under the lock. The refreshing process checks again after its COMMIT, because other runs may have ended in the
    /// meantime. After ``refreshRounds`` refreshes, it leaves further changes to the next run.
    ///
    /// - Parameter begin: Called once, before a refresh, which can take minutes.
    /// - Returns: The result.
    /// - Throws: ``Postgres/PostgresError``, ``LockTimeout`` for a view that another session has locked.
    package func refreshViewsIfStale(begin: () -> Void = {}) async throws -> RefreshOutcome {
        var times = 0
        do {
            while times < Self.refreshRounds {
                let isStale = try await transaction { connection in
                    try Self.tryRefreshLock(on: connection)
                    guard try Self.viewsAreStale(on: connection) else { return false }
                    _ = try connection.run("SELECT analyze_grown_tables()")
                    return true
                }
                guard isStale else { break }
                if times == 0 {
                    begin()
                    // What an erasure that was killed left to do.
                    try await renewStatistics()
                }
                let isRefreshed = try await transaction(.repeatableRead) { connection in
                    try Self.tryRefreshLock(on: connection)
                    guard try Self.viewsAreStale(on: connection) else { return false }
                    _ = try Self.refreshAll(onlyEmpty: false, on: connection)
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

    /// The most refreshes of one call.
    private static let refreshRounds = 3
    private static let refreshPurpose = "the refresh of materialised views"

    /// Takes the refresh lock.
    ///
    /// It must be the first statement of its transaction: `LOCK` takes no snapshot, so the transaction's snapshot is
    /// newer than the lock.
    private static func tryRefreshLock(on connection: borrowing PostgresConnection) throws {
        do {
            try connection.script(TableLock.refresh.exclusively + " NOWAIT")
        } catch SQLState.lockNotAvailable {
            throw RefreshUnderWay()
        }
    }

    /// - Throws: ``LockTimeout`` if another session locks a view for longer than ``longLockTimeout``.
    private static func refreshAll(
        onlyEmpty: Bool,
        on connection: borrowing PostgresConnection
    ) throws -> [RefreshedView] {
        try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
        return try waiting(longLockTimeout, for: refreshPurpose, .schema, on: connection) { connection in
            try connection.run(
                "SELECT view_name, view_rows, milliseconds FROM refresh_views($1::boolean)",
                [.boolean(onlyEmpty)]
            ).map { row in
                RefreshedView(
                    view: try row.text("view_name"),
                    rows: try row.int64("view_rows"),
                    milliseconds: try row.int64("milliseconds")
                )
            }
        }
    }

    /// Whether the materialized views may be stale.
    ///
    /// They are stale after changed rows, and on every new day, because they depend on the date.
    package func viewsAreStale() async throws -> Bool {
        try await transaction { try Self.viewsAreStale(on: $0) }
    }

    private static func viewsAreStale(on connection: borrowing PostgresConnection) throws -> Bool {
        try connection.run(
            """
            SELECT EXISTS (
                SELECT FROM schema_views v
                 WHERE v.is_materialized
                   AND (v.refreshed_at IS NULL
                        OR (v.refreshed_at AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date
                        OR v.filed_changes IS DISTINCT FROM filed_changes())
            ) AS stale
            """
        )[0].bool("stale")
    }
}

/// Another session is refreshing the views.
private struct RefreshUnderWay: Error {}
