import Ledger
import Postgres

/// One job of a ledger; its JSON form is stable and documented in `docs/reference/json.md`.
package struct KnownJob: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable {
        /// A process has leased items of the last run, or rows of a batch.
        case running
        /// The last run has work left, or rows of a batch wait or have an unknown outcome.
        case unfinished
        /// The last run has ended, and every row has an outcome.
        case finished
    }

    package let app: String
    package let environment: String
    package let job: String
    /// The key of the action in the job file; `nil` for a crawl.
    package var action: String?
    /// `nil` for an action: its batches are no runs.
    package let lastRun: Int64?
    /// When the last run began, or the last batch was first sent; `nil` if no batch was.
    package let lastStartedAt: String?
    /// When a run last ended with 0 or 2, or a batch had an outcome for every row; `nil` if none has.
    package let lastCompleteAt: String?
    /// Of the last run's last process; `nil` while the first one works, and for an action.
    package let exitCode: Int64?
    package let state: State
}

extension Ledger {
    /// The jobs of every app, by app and name, without removed ones.
    ///
    /// Roles for crawls and those for actions see what they may read.
    package func knownJobs() async throws -> [KnownJob] {
        try await transaction(.readOnlySnapshot) { connection in
            let readable = try Readable(connection)
            let actions = readable.contains("actions_by_batch") ? try Self.actionJobs(connection) : []
            // Without a right on both, PostgreSQL's refusal says so.
            if !readable.contains("runs"), readable.contains("action_batches") { return actions }
            let all = try Self.crawlJobs(connection) + actions
            return all.sorted { ($0.app, $0.environment, $0.job) < ($1.app, $1.environment, $1.job) }
        }
    }

    private static func crawlJobs(_ connection: borrowing PostgresConnection) throws -> [KnownJob] {
        try connection.run(
            .crawlJobs
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

    private static func actionJobs(_ connection: borrowing PostgresConnection) throws -> [KnownJob] {
        try connection.run(
            .actionJobs
        ).map { row in
            KnownJob(
                app: try row.text("bundle_id"),
                environment: try row.text("environment"),
                job: try row.text("job"),
                action: try row.text("action"),
                lastRun: nil,
                lastStartedAt: try row.textOrNil("started"),
                lastCompleteAt: try row.textOrNil("complete"),
                exitCode: nil,
                state: KnownJob.State(rawValue: try row.text("state")) ?? .unfinished
            )
        }
    }
}
