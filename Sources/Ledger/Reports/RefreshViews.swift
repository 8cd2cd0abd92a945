import LedgerTables
import Postgres

/// One materialised view, brought up to date; its JSON form is documented in the README and stable.
package struct RefreshedView: Codable, Sendable, Equatable {
    package let view: String
    package let rows: Int64
    package let milliseconds: Int64
}

extension Ledger {
    /// Brings the materialised views up to date, all from one snapshot; readers go on reading what was there.
    ///
    /// - Parameter onlyEmpty: Only views that were never filled, as after a migration.
    /// - Returns: The views, in the order of their making.
    /// - Throws: ``Postgres/PostgresError``.
    package func refreshViews(onlyEmpty: Bool = false) async throws -> [RefreshedView] {
        try await transaction { _ = try $0.run("SELECT analyze_grown_tables()") }
        // What an erasure that was killed left to do.
        try await renewStatistics()
        return try await transaction(.repeatableRead) { connection in
            // Long work at a time, and somebody else's before it.
            try connection.script("SET LOCAL lock_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = 0")
            return try connection.run(
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
    /// They do after a run that changed rows, and from day to day, for time passes in them, too.
    package func viewsAreStale() async throws -> Bool {
        try await transaction { connection in
            try connection.run(
                """
                SELECT EXISTS (
                    SELECT FROM schema_views v
                     WHERE v.is_materialized
                       AND (v.refreshed_at IS NULL
                            OR (v.refreshed_at AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date
                            OR EXISTS (SELECT FROM runs r
                                        WHERE r.rows_new + r.rows_updated > 0
                                          AND coalesce(r.finished_at, 'infinity') >= v.refreshed_at))
                ) AS stale
                """
            )[0].bool("stale")
        }
    }
}
