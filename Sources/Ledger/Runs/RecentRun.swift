package import AppStoreModel
import JobPlan
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
                """
                SELECT ceil(extract(epoch FROM greatest(
                           (SELECT frozen_now FROM runs WHERE app_id = $1 AND job = $2 AND finished_at IS NULL),
                           (SELECT max(window_end) FROM crawl_items
                             WHERE app_id = $1 AND job = $2 AND stream = ANY ($3::text[]))
                       ) - clock_timestamp()))::bigint AS ahead
                """,
                [.integer(app.rawValue), .text(job), .textArray(windows.map(\.rawValue))]
            )[0].int64OrNil("ahead")
            return ahead.flatMap { $0 > 0 ? .seconds($0) : nil }
        }
    }

    /// The newest complete run with the plan's streams and filters, if it began less than `limit` ago.
    ///
    /// A run that takes long must not delay the next night's, so its age is the time since its start. A retry does not
    /// count, because it requests only failed items.
    ///
    /// - Returns: `nil` also if the job has an unfinished run, which the next start continues. A run that began while
    ///   PostgreSQL's clock was ahead does not count.
    /// - Throws: ``Postgres/PostgresError``.
    package func recentRun(_ plan: RunPlan, within limit: Duration) async throws -> RecentRun? {
        let seconds = limit / .seconds(1)
        return try await transaction { connection in
            try connection.run(
                """
                SELECT run_id, exit_code, \(Self.moment("started_at")) AS started, \(Self.moment("finished_at")) AS finished,
                       extract(epoch FROM clock_timestamp() - started_at)::bigint AS age
                  FROM runs
                 WHERE app_id = $1 AND job = $2 AND fingerprint = $3 AND NOT is_retry AND exit_code IN (0, 2)
                   AND finished_at IS NOT NULL AND started_at > clock_timestamp() - make_interval(secs => $4::text::double precision)
                   AND started_at <= clock_timestamp()
                   AND NOT EXISTS (SELECT FROM runs WHERE app_id = $1 AND job = $2 AND finished_at IS NULL)
                 ORDER BY run_id DESC LIMIT 1
                """,
                [.integer(plan.app.rawValue), .text(plan.job.name), .text(plan.fingerprint), .text("\(seconds)")]
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
