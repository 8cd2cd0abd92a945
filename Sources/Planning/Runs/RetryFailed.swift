import AppStoreModel
package import Basics
import JobFiles
package import Ledger
import LedgerSchema
import Postgres
import Streams

/// No item of the job can be retried now.
package enum NothingToRetry: ExplainedError, Equatable, Sendable {
    case neverRan
    case noneFailed
    /// The job file has other streams, filters or another server than its unfinished run.
    case jobHasChanged(run: Int64)
    /// The job's unfinished run has not planned all of its items.
    case stillPlanning(run: Int64)
    /// The job's unfinished run began while PostgreSQL's clock was ahead.
    case runIsFromTheFuture(run: Int64)

    package var status: ExitStatus {
        switch self {
        case .neverRan, .noneFailed: .complete
        case .stillPlanning: .workLeft
        case .runIsFromTheFuture, .jobHasChanged: .configuration
        }
    }

    package var sentence: String {
        switch self {
        case .neverRan, .noneFailed: "no item has failed, so there is nothing to retry"
        case .stillPlanning(let run):
            "run \(run) has not planned all of its items; storeledger run JOB continues it"
        case .runIsFromTheFuture(let run):
            "run \(run) began while PostgreSQL's clock was ahead, so its items are not retried; storeledger run JOB starts a new run"
        case .jobHasChanged(let run):
            "run \(run) had other streams, filters or another server; storeledger run JOB starts a new one"
        }
    }
}

extension Ledger {
    /// Starts a run of the items that failed in earlier runs, or adds failed items to the unfinished run.
    ///
    /// An unfinished run is joined even if none of its items has failed, because it can be a retry that was stopped.
    /// The call is one transaction. When it is repeated after a lost answer to COMMIT, it joins the run that it has
    /// started. Time that Apple no longer serves is left to the next regular run, which records the gap.
    /// - Throws: ``NothingToRetry``, ``Postgres/PostgresError``.
    package func retryFailed(_ plan: RunPlan) async throws -> StartedRun {
        let invocation = Invocation()
        return try await transaction { connection in
            try connection.script(Self.defaultPlanner)
            try Self.lockRuns(of: plan, on: connection)
            if let open = try OpenRun.find(plan, isLocked: true, on: connection) {
                guard open.fingerprint == plan.fingerprint, open.hasOrigin(of: plan) else {
                    throw NothingToRetry.jobHasChanged(run: open.run)
                }
                guard !open.isFromTheFuture else { throw NothingToRetry.runIsFromTheFuture(run: open.run) }
                guard !open.isPlanning else { throw NothingToRetry.stillPlanning(run: open.run) }
                try FutureState.releaseItems(of: open.run, plan, on: connection)
                _ = try takeUpFailed(by: plan, run: open.run, on: connection)
                return StartedRun(
                    run: open.run,
                    now: open.now,
                    joined: open.begunBy != invocation,
                    restarted: open.restarted
                )
            }
            let runs = try connection.run(
                "SELECT FROM runs WHERE app_id = $1 AND job = $2 LIMIT 1",
                [.integer(plan.app.rawValue), .text(plan.job.name)]
            )
            guard runs.count > 0 else { throw NothingToRetry.neverRan }
            // The customers of a retry are already known, so the phase of notifications is skipped.
            let run = try ItemPlanner(plan: plan)
                .insertRun(phase: 1, isRetry: true, by: invocation, on: connection)
            guard try takeUpFailed(by: plan, run: run, on: connection) > 0 else { throw NothingToRetry.noneFailed }
            return StartedRun(run: run, now: plan.now, joined: false, restarted: false)
        }
    }

    /// The streams whose last page says which rows have left an answer.
    private static let wholeStreams = AllStreams.types.filter { $0.answerKind == .groupMember }.map { $0.name.rawValue }

    /// - Returns: The number of items that were added to the run.
    private func takeUpFailed(
        by plan: RunPlan,
        run: Int64,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int {
        try connection.run(
            .takeUpFailed,
            Self.retryable(by: plan),
            ["run": .bigint(run), "whole_streams": .textArray(Self.wholeStreams)]
        ).affected
    }

    /// Waits until no other process starts or joins a run of the job, and then restores the default lock timeout.
    ///
    /// - Throws: ``LockTimeout`` after ``RunPlan/lockTimeout``; ``Postgres/PostgresError``.
    static func lockRuns(of plan: RunPlan, on connection: borrowing PostgresConnection) throws {
        let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name)]
        let purpose = "another process to begin a run of \(plan.job.name)"
        try waiting(plan.lockTimeout, for: purpose, .table("jobs"), on: connection) { connection in
            _ = try connection.run("INSERT INTO jobs (app_id, job) VALUES ($1, $2) ON CONFLICT DO NOTHING", key)
            _ = try connection.run("SELECT FROM jobs WHERE app_id = $1 AND job = $2 FOR UPDATE", key)
        }
    }
}
