package import LedgerSchema
import Postgres

/// One job of a ledger; its JSON form is stable and documented in `docs/reference/json.md`.
package struct KnownJob: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable {
        /// A process holds items of the last run.
        case running
        /// The last run has work left.
        case unfinished
        /// The last run has ended.
        case finished
    }

    package let app: String
    package let environment: String
    package let job: String
    package let lastRun: Int64
    package let lastStartedAt: String
    /// When a run last ended with 0 or 2; `nil` if none has.
    package let lastCompleteAt: String?
    /// Of the last run's last process; `nil` while the first one works.
    package let exitCode: Int64?
    package let state: State
}

/// What became of a request to forget a job.
package enum JobRemoval: String, Sendable {
    case removed
    /// A process holds items of the job; nothing was changed.
    case running
    case unknown
}

extension Ledger {
    /// The jobs of every app, by app and name, without removed ones.
    package func knownJobs() async throws -> [KnownJob] {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.run(
                """
                SELECT a.bundle_id, a.environment, r.job, r.run_id, \(Self.moment("r.started_at")) AS started, r.exit_code,
                       CASE WHEN r.finished_at IS NOT NULL THEN 'finished'
                            WHEN EXISTS (SELECT FROM crawl_items i WHERE i.app_id = r.app_id AND i.job = r.job AND i.state = 'leased'
                                            AND i.claimable_at > clock_timestamp()) THEN 'running'
                            ELSE 'unfinished' END AS state,
                       (SELECT \(Self.moment("max(c.finished_at)")) FROM runs c
                         WHERE c.app_id = r.app_id AND c.job = r.job AND c.exit_code IN (0, 2)) AS complete
                  FROM (SELECT DISTINCT ON (app_id, job) app_id, job, run_id, started_at, finished_at, exit_code FROM runs
                         WHERE job NOT LIKE '% (removed)' ORDER BY app_id, job, run_id DESC) r
                  JOIN apps a USING (app_id) ORDER BY a.bundle_id, a.environment, r.job
                """
            ).map { row in
                KnownJob(
                    app: try row.text("bundle_id"),
                    environment: try row.text("environment"),
                    job: try row.text("job"),
                    lastRun: try row.int64("run_id"),
                    lastStartedAt: try row.text("started"),
                    lastCompleteAt: try row.textOrNil("complete"),
                    exitCode: try row.int64OrNil("exit_code"),
                    state: KnownJob.State(rawValue: try row.text("state")) ?? .unfinished
                )
            }
        }
    }

    /// Forgets a job's items, gaps and counted rejects; keeps every record.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func forget(_ job: String, of app: AppID) async throws -> JobRemoval {
        try await transaction { connection in
            let result = try connection.run(
                "SELECT forget_job($1::integer, $2::text) AS result",
                [.integer(app.rawValue), .text(job)]
            )[0].text("result")
            guard let removal = JobRemoval(rawValue: result) else {
                throw LedgerError.invariant("forget_job: \(result)")
            }
            return removal
        }
    }
}
