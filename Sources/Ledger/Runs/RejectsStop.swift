package import LedgerSchema
import Postgres

extension Ledger {
    /// Whether an earlier process of the run has ended because too many records failed verification.
    package func wasStoppedForRejects(_ run: Int64, app: AppID) async throws -> Bool {
        try await transaction { connection in
            try connection.run(
                "SELECT stopped_for_rejects_at IS NOT NULL AS stopped FROM runs WHERE app_id = $1 AND run_id = $2",
                [.integer(app.rawValue), .bigint(run)]
            )[0].bool("stopped")
        }
    }

    /// Records that a process ends because too many of the run's records failed verification.
    package func noteStopForRejects(_ run: Int64, app: AppID) async throws {
        try await transaction { connection in
            _ = try connection.run(
                "UPDATE runs SET stopped_for_rejects_at = clock_timestamp() WHERE app_id = $1 AND run_id = $2",
                [.integer(app.rawValue), .bigint(run)]
            )
        }
    }
}
