import LedgerTables
import Postgres

/// One materialised view, brought up to date; its JSON form is documented in `docs/reference/json.md` and stable.
package struct RefreshedView: Codable, Sendable, Equatable {
    package let view: String
    package let rows: Int64
    package let milliseconds: Int64
}

/// What became of materialised views that may have been stale.
package enum RefreshOutcome: Sendable, Equatable {
    /// They show what the ledger holds; `times` of them were refreshed by this call, 0 when they did so before.
    case upToDate(times: Int)
    /// Another session is at it; afterwards it looks for what was filed meanwhile.
    case leftToAnother
}

extension Ledger {
    /// Brings the materialised views up to date, all from one snapshot; readers go on reading what was there.
    ///
    /// - Parameter onlyEmpty: Only views that were never filled, as after a migration.
    /// - Returns: The views, in the order of their making.
    /// - Throws: ``LockTimeout`` when another refresh takes longer than ``longLockPatience``; ``Postgres/PostgresError``.
    package func refreshViews(onlyEmpty: Bool = false) async throws -> [RefreshedView] {
        // What an erasure that was killed left to do.
        try await renewStatistics()
        let deadline = ContinuousClock.now + Self.longLockPatience
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

    /// Brings the materialised views up to date if they may show something else than the ledger holds.
    ///
    /// For processes that end a run at the same moment: one refreshes, the others go on. Whether the views are stale is asked
    /// under the lock. The one that refreshes looks again after its COMMIT, because a run that ended meanwhile has left its
    /// rows to it; after ``refreshRounds`` times it leaves the rest to the next run.
    ///
    /// - Parameter begin: Called once, before views are refreshed, which can take minutes.
    /// - Returns: What became of them.
    /// - Throws: ``Postgres/PostgresError``, ``LockTimeout`` of a view that another session has locked.
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

    /// How often one call refreshes at most.
    private static let refreshRounds = 3
    private static let refreshPurpose = "the refresh of materialised views"

    /// Takes the lock of refreshes, the first statement of its transaction: `LOCK` takes no snapshot, so that of a
    /// transaction with one snapshot is of the time after it.
    private static func tryRefreshLock(on connection: borrowing PostgresConnection) throws {
        do {
            try connection.script(TableLock.refresh.exclusively + " NOWAIT")
        } catch SQLState.lockNotAvailable {
            throw RefreshUnderWay()
        }
    }

    /// - Throws: ``LockTimeout`` when another session holds a view for longer than ``longLockPatience``.
    private static func refreshAll(
        onlyEmpty: Bool,
        on connection: borrowing PostgresConnection
    ) throws -> [RefreshedView] {
        try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
        return try waiting(longLockPatience, for: refreshPurpose, .ledger, on: connection) { connection in
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

    /// Whether the materialised views may show something else than the ledger holds.
    ///
    /// They do after a run has filed changed rows, and from day to day, for time passes in them, too.
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

/// Another session refreshes the views.
private struct RefreshUnderWay: Error {}
