import AppStoreModel
import JobPlan
import LedgerTables
import Postgres

/// No item of the job is there to be tried again.
package enum NothingToRetry: Error, Equatable, Sendable {
    case neverRan
    case noneFailed
    /// The job file has other streams or filters than its unfinished run.
    case jobHasChanged(run: Int64)
}

extension Ledger {
    /// Begins a run of the items that failed in earlier ones, or has the unfinished run take up its own.
    ///
    /// One transaction, as ``beginOrJoin(_:ids:)``. What Apple no longer serves is left to the next whole run, which
    /// records the gap.
    /// - Throws: ``NothingToRetry``, ``Postgres/PostgresError``.
    package func retryFailed(_ plan: RunPlan) async throws -> RunStart {
        try await transaction { connection in
            try connection.script("SET LOCAL lock_timeout = 0; \(Self.usualPlanner)")
            try Self.lockRuns(of: plan, on: connection)
            let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name)]
            let last = try connection.run(
                """
                SELECT run_id, fingerprint, frozen_now, restarted, finished_at IS NULL AS open FROM runs
                 WHERE app_id = $1 AND job = $2 ORDER BY run_id DESC LIMIT 1 FOR UPDATE
                """,
                key
            )
            guard let last = last.first else { throw NothingToRetry.neverRan }
            let isOpen = try last.bool("open")
            if isOpen, try last.text("fingerprint") != plan.fingerprint {
                throw NothingToRetry.jobHasChanged(run: try last.int64("run_id"))
            }
            var start = RunStart(run: try last.int64("run_id"), now: plan.now, joined: isOpen, restarted: false)
            if isOpen {
                start = RunStart(
                    run: start.run,
                    now: UnixMilliseconds(rawValue: try last.timestamp("frozen_now")),
                    joined: true,
                    restarted: try last.bool("restarted")
                )
            } else {
                start = RunStart(
                    // The customers of such a run are the failed ones, so nobody has to be named first.
                    run: try ItemPlanner(plan: plan).insertRun(phase: 1, on: connection),
                    now: plan.now,
                    joined: false,
                    restarted: false
                )
            }
            let taken = try connection.run(
                "UPDATE crawl_items SET run_id = $6, \(ItemPlanner.isToDo) WHERE \(Self.isRetryable)",
                Self.retryable(by: plan) + [.bigint(start.run)]
            )
            guard taken.affected > 0 else { throw NothingToRetry.noneFailed }
            return start
        }
    }

    /// How many items ``retryFailed(_:)`` would take up.
    static func countRetryable(by plan: RunPlan, on connection: borrowing PostgresConnection) throws -> Int64 {
        try connection.run("SELECT count(*) AS items FROM crawl_items WHERE \(isRetryable)", retryable(by: plan))[0]
            .int64("items")
    }

    /// Whether an item failed, in whichever run, and the job would ask for it as it was asked for then.
    private static let isRetryable = """
        app_id = $1 AND job = $2 AND state = 'failed'
            AND (stream, fingerprint) IN (SELECT * FROM unnest($3::text[], $4::text[]))
            AND (window_end IS NULL OR window_end > $5::timestamptz)
        """

    /// The parameters of ``isRetryable``.
    private static func retryable(by plan: RunPlan) -> [Cell] {
        let streams = plan.job.streams.named
        return [
            .integer(plan.app.rawValue), .text(plan.job.name), .textArray(streams.map(\.rawValue)),
            .textArray(streams.map { plan.job.queryFingerprint(for: $0) }),
            .timestamp(plan.oldestNotification.rawValue),
        ]
    }

    /// Waits until no other process begins or joins a run of the job; afterwards locks are waited for 30 s again.
    ///
    /// - Throws: ``LockTimeout`` after ``RunPlan/lockPatience``; ``Postgres/PostgresError``.
    static func lockRuns(of plan: RunPlan, on connection: borrowing PostgresConnection) throws {
        let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name)]
        let purpose = "another process to begin a run of \(plan.job.name)"
        try waiting(plan.lockPatience, for: purpose, .table("jobs"), on: connection) { connection in
            _ = try connection.run("INSERT INTO jobs (app_id, job) VALUES ($1, $2) ON CONFLICT DO NOTHING", key)
            _ = try connection.run("SELECT FROM jobs WHERE app_id = $1 AND job = $2 FOR UPDATE", key)
        }
    }
}
