package import LedgerSchema
import Postgres

extension JobStatus {
    /// The views that show the last refresh; one refresh is of every app of the ledger.
    package struct Views: Codable, Sendable, Equatable {
        /// The time of the ledger state that the views show; `nil` before the first refresh, or if it has to start over.
        package let refreshedAt: String?
        /// Since when every refresh has failed; `nil` if the last one succeeded.
        package let failedSince: String?
        /// Why the last refresh failed; `nil` if it succeeded, and for a role without the privilege to read it.
        package let message: String?
    }
}

extension Ledger {
    /// Reads how old the views are, and whether they can be refreshed.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func viewsStatus() async throws -> JobStatus.Views {
        try await transaction(.readOnlySnapshot) { connection in
            try Self.viewsStatus(try Readable(connection), connection)
        }
    }

    static func viewsStatus(
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> JobStatus.Views {
        let failure = readable.contains("refresh_state") ? "(SELECT failure FROM refresh_state)" : "NULL::text"
        let row = try connection.run(
            """
            SELECT \(moment("max(refreshed_at)")) AS refreshed, \(moment("max(failed_since)")) AS failed, \(failure) AS failure
              FROM view_freshness
            """
        )[0]
        return JobStatus.Views(
            refreshedAt: try row.textOrNil("refreshed"),
            failedSince: try row.textOrNil("failed"),
            message: try row.textOrNil("failure")
        )
    }

    /// Records why the views could not be refreshed; the next refresh that succeeds clears it.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func recordRefreshFailure(_ message: String) async throws {
        try await transaction { _ = try $0.run("SELECT record_refresh_failure($1)", [.text(message)]) }
    }

    /// Records that a run whose records are complete could not refresh the views.
    ///
    /// - Parameter message: Why.
    /// - Throws: ``Postgres/PostgresError``.
    package func recordViewsNotRefreshed(by run: Int64, app: AppID, _ message: String) async throws {
        try await transaction { connection in
            _ = try connection.run(
                "UPDATE runs SET exit_code = greatest(exit_code, 2), message = $3 WHERE app_id = $1 AND run_id = $2 AND exit_code IN (0, 2)",
                [.integer(app.rawValue), .bigint(run), .text(message)]
            )
        }
    }
}
