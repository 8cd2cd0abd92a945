package import LedgerSchema
import Postgres

/// The outcome of a request to forget a job.
package enum JobRemoval: String, Sendable {
    case removed
    /// A process has leased items of the job; nothing was changed.
    case running
    case unknown
}

extension Ledger {
    /// Forgets a job's items, gaps and counted rejects; keeps every record.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func forget(_ job: String, of app: AppID) async throws -> JobRemoval {
        try await forget(job, of: app, by: "forget_job")
    }

    /// Forgets a job with an action: its plans and the rows that were never sent; keeps everything that was sent.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func forgetActions(_ job: String, of app: AppID) async throws -> JobRemoval {
        try await forget(job, of: app, by: "forget_actions")
    }

    private func forget(_ job: String, of app: AppID, by function: String) async throws -> JobRemoval {
        try await transaction { connection in
            let result = try connection.run(
                "SELECT \(function)($1::integer, $2::text) AS result",
                [.integer(app.rawValue), .text(job)]
            )[0].text("result")
            guard let removal = JobRemoval(rawValue: result) else {
                throw LedgerError.invariant("\(function): \(result)")
            }
            return removal
        }
    }
}
