package import AppStoreModel
import JobPlan
import LedgerTables
import Postgres

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
    /// One transaction: the set of items a run works on is complete or does not exist. A second process waits at the
    /// lock and then joins.
    /// - Throws: ``BadListedID``, whatever the feed throws, ``Postgres/PostgresError``.
    package func beginOrJoin(_ plan: RunPlan, ids: ListedIDs) async throws -> RunStart {
        try await transaction { connection in
            let app = Cell.integer(plan.app.rawValue)
            let job = Cell.text(plan.job.name)
            // Copying millions of IDs takes longer than any other lock is worth waiting for.
            try connection.script("SET LOCAL lock_timeout = 0; \(Self.usualPlanner)")
            try Self.lockRuns(of: plan, on: connection)
            let open = try connection.run(
                "SELECT run_id, fingerprint, frozen_now, restarted FROM runs WHERE app_id = $1 AND job = $2 AND finished_at IS NULL",
                [app, job]
            )
            var remarks: [String] = []
            if let row = open.first {
                let run = try row.int64("run_id")
                if !plan.restart, try row.text("fingerprint") == plan.fingerprint {
                    return RunStart(
                        run: run,
                        now: UnixMilliseconds(rawValue: try row.timestamp("frozen_now")),
                        joined: true,
                        restarted: try row.bool("restarted"),
                        remarks: plan.idsMayChange
                            ? ["going on with the transaction IDs of when run \(run) began"] : []
                    )
                }
                try Self.supersede(run, of: plan, on: connection)
                remarks.append(
                    plan.restart
                        ? "run \(run) had work left; this run takes its place"
                        : "run \(run) had work left and other streams or filters; this run takes its place"
                )
            }
            var start = try ItemPlanner(plan: plan).begin(ids, on: connection)
            start.remarks.insert(contentsOf: remarks, at: 0)
            return start
        }
    }

    /// Ends an unfinished run whose job has changed; its items are planned anew, their cursors kept where they fit.
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
