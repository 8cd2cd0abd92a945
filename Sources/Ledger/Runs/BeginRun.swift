package import AppStoreModel
import JobPlan
import LedgerTables
import Postgres
import Workers

/// Hands over the listed IDs in batches, already judged; may throw when the list is bad, and then nothing has begun.
package typealias IDFeed = @Sendable (_ take: ([TransactionID]) throws -> Void) throws -> Void

/// Where the IDs of a run come from.
package enum ListedIDs: Sendable {
    case none
    case feed(IDFeed)
    /// One SELECT; its first column holds the IDs.
    case query(String)
}

/// An ID from a query is not a transaction ID.
package struct BadListedID: Error, Equatable, Sendable {
    /// As it came, at most 40 characters.
    package let found: String
}

/// PostgreSQL does not accept the query a job lists its IDs with.
package struct BadListQuery: Error, Equatable, Sendable {
    /// PostgreSQL's words.
    package let message: String

    /// Passes every other error on.
    static func judge<R>(_ query: () throws -> R) throws -> R {
        do {
            return try query()
        } catch let error as PostgresError where ["42", "22"].contains(error.state.conditionClass) {
            throw BadListQuery(message: error.message)
        }
    }
}

extension Ledger {
    /// Joins the job's unfinished run, or begins the next one.
    ///
    /// The items are planned in batches, each in a transaction of its own. Until the last batch is there the run is in phase
    /// -1, and no worker takes an item. A process that is killed before continues when it starts again, with the list as it
    /// is then; a second process that starts meanwhile plans as well, for a batch that is there already changes nothing.
    /// - Throws: ``BadListedID``, whatever the feed throws, ``Postgres/PostgresError``. A list that is bad begins nothing.
    package func beginOrJoin(_ plan: RunPlan, ids: ListedIDs) async throws -> RunStart {
        let invocation = Invocation()
        return try await persistently { connection -> RunStart in
            // A list is read only if it is needed.
            let open = try connection.transaction(.readCommitted) { try OpenRun.find(plan, on: $0) }
            if let open, open.isJoinable(plan), !open.isPlanning { return open.start(plan) }
            let staged = try StagedIDs.copy(ids, on: connection)
            let (opened, remarks) = try connection.transaction(.readCommitted) { connection in
                try Self.lockRuns(of: plan, on: connection)
                return try Self.open(plan, by: invocation, on: connection)
            }
            guard opened.isPlanning else { return opened.start(plan) }
            crashPoint(.idsListed)
            var start = opened.start(plan, joined: opened.begunBy != invocation)
            start.remarks.insert(contentsOf: remarks, at: 0)
            start.listedIDs = staged.count
            start.duplicateIDs = staged.duplicates
            return try ItemPlanner(plan: plan.frozen(as: start)).plan(staged, into: start, on: connection)
        }
    }

    /// The unfinished run where it can be joined; otherwise a new one, which takes its place.
    private static func open(
        _ plan: RunPlan,
        by invocation: Invocation,
        on connection: borrowing PostgresConnection
    ) throws -> (run: OpenRun, remarks: [String]) {
        var remarks: [String] = []
        if let open = try OpenRun.find(plan, isLocked: true, on: connection) {
            // After a COMMIT whose answer was lost, the run is there and is this invocation's own.
            if open.begunBy == invocation || open.isJoinable(plan) { return (open, []) }
            try supersede(open.run, of: plan, on: connection)
            let difference = plan.restart || open.isRetry ? "" : " and other streams or filters"
            remarks.append("run \(open.run) had work left\(difference); this run takes its place")
        }
        let run = try ItemPlanner(plan: plan).insertRun(phase: OpenRun.planning, by: invocation, on: connection)
        crashPoint(.runInserted)
        return (
            OpenRun(
                run: run,
                fingerprint: plan.fingerprint,
                now: plan.now,
                restarted: plan.restart,
                isRetry: false,
                isPlanning: true,
                begunBy: invocation
            ),
            remarks
        )
    }

    /// Ends an unfinished run whose place another takes; its unfinished items are planned again, their cursors kept where
    /// they fit.
    private static func supersede(
        _ run: Int64,
        of plan: RunPlan,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name), .bigint(run)]
        _ = try connection.run(
            """
            UPDATE crawl_items SET state = 'failed', claimable_at = NULL, lease_owner = NULL,
                   error_message = 'the run was superseded before the item reached its end'
             WHERE app_id = $1 AND job = $2 AND run_id = $3 AND claimable_at IS NOT NULL
            """,
            key
        )
        try file(
            count(run, app: plan.app, job: plan.job.name, on: connection),
            app: plan.app,
            exitCode: Int32(supersededCode),
            message: "superseded by another run of the job",
            isOver: true,
            on: connection
        )
    }
}

/// Names one call of ``Ledger/beginOrJoin(_:ids:)`` or ``Ledger/retryFailed(_:)``.
struct Invocation: Equatable, Sendable {
    let bytes: [UInt8]

    init() {
        var random = SystemRandomNumberGenerator()
        bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    init?(_ bytes: [UInt8]?) {
        guard let bytes else { return nil }
        self.bytes = bytes
    }
}

/// A job's run that has not ended.
struct OpenRun: Sendable {
    /// The phase in which a run's items are planned.
    static let planning: Int32 = -1

    let run: Int64
    let fingerprint: String
    let now: UnixMilliseconds
    let restarted: Bool
    let isRetry: Bool
    let isPlanning: Bool
    let begunBy: Invocation?

    /// - Parameters:
    ///   - plan: Of the job.
    ///   - isLocked: Whether the run stays open until the transaction ends; a process that is ending it is waited for.
    ///   - connection: Inside a transaction.
    /// - Returns: `nil` when no run of the job is open.
    /// - Throws: ``Postgres/PostgresError``.
    static func find(
        _ plan: RunPlan,
        isLocked: Bool = false,
        on connection: borrowing PostgresConnection
    ) throws -> OpenRun? {
        let rows = try connection.run(
            """
            SELECT run_id, fingerprint, frozen_now, restarted, is_retry, phase, uuid_send(begun_by) AS begun_by FROM runs
             WHERE app_id = $1 AND job = $2 AND finished_at IS NULL \(isLocked ? "FOR UPDATE" : "")
            """,
            [.integer(plan.app.rawValue), .text(plan.job.name)]
        )
        return try rows.first.map { row in
            OpenRun(
                run: try row.int64("run_id"),
                fingerprint: try row.text("fingerprint"),
                now: UnixMilliseconds(rawValue: try row.timestamp("frozen_now")),
                restarted: try row.bool("restarted"),
                isRetry: try row.bool("is_retry"),
                isPlanning: try row.int64("phase") == Int64(planning),
                begunBy: Invocation(try row.bytesOrNil("begun_by"))
            )
        }
    }

    /// Whether a run of the plan continues it: a retry covers only the failed items, so a whole run takes its place.
    func isJoinable(_ plan: RunPlan) -> Bool {
        !plan.restart && !isRetry && fingerprint == plan.fingerprint
    }

    func start(_ plan: RunPlan, joined: Bool = true) -> RunStart {
        var start = RunStart(run: run, now: now, joined: joined, restarted: restarted)
        guard joined else { return start }
        if isPlanning {
            start.remarks = [
                "run \(run) had not planned all of its transaction IDs; continuing with the list as it is now"
            ]
        } else if plan.idsMayChange {
            start.remarks = ["resuming run \(run) with its original list of transaction IDs"]
        }
        return start
    }
}
