package import AppStoreModel
import Basics
import JobPlan
import LedgerSchema
import Postgres

/// Provides the listed, validated IDs in batches.
///
/// If it throws because the list is invalid, no run is started.
package typealias IDFeed = @Sendable (_ take: ([TransactionID]) throws -> Void) throws -> Void

/// The source of a run's IDs.
package enum ListedIDs: Sendable {
    case none
    case feed(IDFeed)
    /// One SELECT; its first column holds the IDs.
    case query(String)
}

/// An ID from a query is not a transaction ID.
package struct BadListedID: Error, Equatable, Sendable {
    /// The text, at most 40 characters.
    package let found: String
}

/// PostgreSQL refuses the query of the job's ID list.
package struct BadListQuery: Error, Equatable, Sendable {
    /// PostgreSQL's message.
    package let message: String

    /// Converts PostgreSQL errors about the query.
    ///
    /// Other errors are passed on.
    static func translating<R>(_ query: () throws -> R) throws -> R {
        do {
            return try query()
        } catch let error as PostgresError where ["42", "22"].contains(error.state.conditionClass) {
            throw BadListQuery(message: error.message)
        }
    }
}

extension Ledger {
    /// Joins the job's unfinished run, or starts the next one.
    ///
    /// Items are planned in batches, one transaction each. Until the last batch is committed, the run is in phase -1,
    /// and no worker takes an item. After a kill, the next process continues with the list as it is then. Several
    /// processes can plan at the same time, because planning an existing batch again changes nothing.
    /// - Throws: ``BadListedID``, errors of the feed, ``Postgres/PostgresError``. An invalid list starts no run.
    package func beginOrJoin(_ plan: RunPlan, ids: ListedIDs) async throws -> RunStart {
        let invocation = Invocation()
        return try await pages.withConnection { connection -> RunStart in
            // The list is read only if it is needed.
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

    /// Returns the unfinished run if it can be joined; otherwise starts a new one, which replaces it.
    private static func open(
        _ plan: RunPlan,
        by invocation: Invocation,
        on connection: borrowing PostgresConnection
    ) throws -> (run: OpenRun, remarks: [String]) {
        var remarks: [String] = []
        if let open = try OpenRun.find(plan, isLocked: true, on: connection) {
            // If the answer to COMMIT was lost, the run exists and belongs to this invocation.
            if open.begunBy == invocation || open.isJoinable(plan) { return (open, []) }
            try supersede(open.run, of: plan, on: connection)
            let difference = plan.restart || open.isRetry ? "" : " and other streams or filters"
            remarks.append("run \(open.run) had work left\(difference); this run replaces it")
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

    /// Ends an unfinished run that another run replaces.
    ///
    /// The new run plans its unfinished items again, and keeps cursors that are still valid.
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
        try storeCounts(
            count(run, app: plan.app, job: plan.job.name, on: connection),
            app: plan.app,
            exitCode: Int32(supersededCode),
            message: "superseded by another run of the job",
            isOver: true,
            on: connection
        )
    }
}

/// Identifies one call of ``Ledger/beginOrJoin(_:ids:)`` or ``Ledger/retryFailed(_:)``.
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
    ///   - plan: The plan of the job.
    ///   - isLocked: Whether to lock the run, so that it stays open until the transaction ends.
    ///   - connection: Inside a transaction.
    /// - Returns: `nil` if the job has no open run.
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

    /// Whether a run with this plan can continue it.
    ///
    /// A retry has only failed items, so a regular run replaces it.
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
