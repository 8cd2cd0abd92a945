package import LedgerSchema
import Postgres

extension Ledger {
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
