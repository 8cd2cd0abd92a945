package import AppStoreModel
import JobFiles
package import LedgerSchema
import Postgres

/// The newest complete run of a job.
package struct RecentRun: Sendable, Equatable {
    package let run: Int64
    /// 0 or 2.
    package let exitCode: Int64
    package let startedAt: String
    package let finishedAt: String
    /// The time since its start, by the database's clock.
    package let age: Duration
}

extension Ledger {
    /// How far the latest moment of a job lies after PostgreSQL's present time, because its clock was ahead.
    ///
    /// - Parameter windows: The job's streams with app-wide windows.
    /// - Returns: `nil` if no window ends in the future, and the unfinished run has not begun there.
    /// - Throws: ``Postgres/PostgresError``.
    package func latestMoment(of job: String, app: AppID, windows: [StreamName]) async throws -> Duration? {
        try await transaction { connection in
            let ahead = try connection.run(
                .timeAhead,
                [
                    "app": .integer(app.rawValue),
                    "job": .text(job),
                    "streams": .textArray(windows.map(\.rawValue)),
                ]
            )[0].int64OrNil("ahead")
            return ahead.flatMap { $0 > 0 ? .seconds($0) : nil }
        }
    }

    /// The newest complete run with the plan's streams and filters, if it began less than `limit` ago.
    ///
    /// A run that takes long must not delay the next night's, so its age is the time since its start.
    ///
    /// - Returns: `nil` also if the job has an unfinished run, which the next start continues.
    /// - Throws: ``Postgres/PostgresError``.
    package func recentRun(_ plan: RunPlan, within limit: Duration) async throws -> RecentRun? {
        let seconds = limit / .seconds(1)
        return try await transaction { connection in
            try connection.run(
                .recentRun,
                [
                    "app": .integer(plan.app.rawValue),
                    "job": .text(plan.job.name),
                    "fingerprint": .text(plan.fingerprint),
                    "limit_seconds": .text("\(seconds)"),
                ]
            ).map { row in
                RecentRun(
                    run: try row.int64("run_id"),
                    exitCode: try row.int64("exit_code"),
                    startedAt: try row.text("started"),
                    finishedAt: try row.text("finished"),
                    age: .seconds(try row.int64("age"))
                )
            }.first
        }
    }
}
