import AppStoreModel
import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// Identifies one call of ``Ledger/beginOrJoin(_:_:)`` or ``Ledger/retryFailed(_:)``.
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
    ///
    /// The next phases are 0: notifications, only with `changedSince`; 1: histories, and without `changedSince` also
    /// notifications; 2: refunds of customers with a revocation, and members of groups.
    static let planning: Int32 = -1

    let run: Int64
    let fingerprint: String
    let now: UnixMilliseconds
    let restarted: Bool
    let isRetry: Bool
    let isPlanning: Bool
    let phase: Int32
    /// The value of `appStore.baseURL`; `nil` for a run of an earlier version.
    let server: String?
    /// SHA-256 of each trusted root; empty for a run of an earlier version.
    let trustedRoots: [String]
    let begunBy: Invocation?
    /// Whether the run began while PostgreSQL's clock was ahead, so that its `now` is in the future.
    var isFromTheFuture = false

    /// - Parameters:
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
            isLocked ? .lockedOpenRun : .openRun,
            [
                "app": .integer(plan.app.rawValue),
                "job": .text(plan.job.name),
                "latest_now": .timestamp(plan.latestNow.rawValue),
            ]
        )
        return try rows.first.map { row in
            OpenRun(
                run: try row.int64("run_id"),
                fingerprint: try row.text("fingerprint"),
                now: UnixMilliseconds(rawValue: try row.timestamp("frozen_now")),
                restarted: try row.bool("restarted"),
                isRetry: try row.bool("is_retry"),
                isPlanning: try row.int32("phase") == planning,
                phase: try row.int32("phase"),
                server: try row.textOrNil("server"),
                trustedRoots: try row.textArray("roots"),
                begunBy: Invocation(try row.bytesOrNil("begun_by")),
                isFromTheFuture: try row.bool("is_from_the_future")
            )
        }
    }

    /// Whether a run with this plan can continue it.
    ///
    /// A retry has only failed items, so a regular run replaces it. A run from the future would mark time as read that
    /// has not passed.
    func isJoinable(_ plan: RunPlan) -> Bool {
        !plan.restart && !isRetry && !isFromTheFuture && fingerprint == plan.fingerprint && hasOrigin(of: plan)
    }

    /// Whether the run requests the server of the plan, and trusts the same roots.
    ///
    /// Otherwise rows from the simulator could be counted for a run against Apple. A plan without roots sends nothing.
    func hasOrigin(of plan: RunPlan) -> Bool {
        if let server, server != plan.job.appStore.baseURL { return false }
        guard !trustedRoots.isEmpty, !plan.trustedRoots.isEmpty else { return true }
        let origins = [trustedRoots, plan.trustedRoots].map { RecordOrigin(server: "", trustedRoots: $0) }
        return origins[0].mayShareAnApp(with: origins[1])
    }

    /// Why a run with this plan does not continue it, as the end of a sentence.
    func difference(from plan: RunPlan) -> String {
        if isFromTheFuture { return " and began while PostgreSQL's clock was ahead" }
        if plan.restart || isRetry { return "" }
        if fingerprint != plan.fingerprint { return " and other streams or filters" }
        return server == plan.job.appStore.baseURL
            ? " and trusted other roots" : " and requested \(server ?? "another server")"
    }

    func runStart(_ plan: RunPlan, joined: Bool = true) -> StartedRun {
        var start = StartedRun(run: run, now: now, joined: joined, restarted: restarted)
        guard joined else { return start }
        if isPlanning {
            start.remarks = [
                "run \(run) has not finished reading its transaction IDs; this process reads the current list again"
            ]
        } else if plan.idsMayChange {
            start.remarks = ["continuing run \(run) with its original list of transaction IDs"]
        }
        return start
    }
}
