import AppStoreModel
import JobFiles
package import Ledger
import LedgerSchema
import Postgres

extension Ledger {
    /// Plans the items that are known once the other streams are complete: the refund histories of customers with a revocation or
    /// a REFUND notification in their history, and the members of the groups that customers are in.
    ///
    /// Several processes can call it; one of them moves the run on.
    ///
    /// - Returns: Whether this call moved the run to phase 2.
    package func planLastPhase(_ plan: RunPlan, run: Int64) async throws -> Bool {
        try await pages.withConnection { connection in
            let until = try Self.planRefunds(plan, run: run, on: connection)
            try Self.planGroups(plan, run: run, on: connection)
            return try connection.transaction(.readCommitted) { connection in
                let moved = try connection.run(
                    """
                    UPDATE runs SET phase = 2, refunds_followed_until = $3
                     WHERE app_id = $1 AND run_id = $2 AND phase = 1 AND finished_at IS NULL
                    """,
                    [.integer(plan.app.rawValue), .bigint(run), until.map(Cell.timestamp) ?? .null]
                )
                _ = try connection.run("SELECT analyze_crawl_items()")
                return moved.affected == 1
            }
        }
    }

    /// Plans the refund histories.
    ///
    /// Only customers of this run are requested. With `changedSince`, customers whose refunds an earlier run did not
    /// finish are included, because there may be no further notification about them. The cost depends on what this run
    /// has read and what was stored since the last one, not on the size of the ledger.
    ///
    /// - Returns: Until when the run has followed refunds, in UNIX milliseconds; `nil` without a stream of refunds.
    private static func planRefunds(
        _ plan: RunPlan,
        run: Int64,
        on connection: borrowing PostgresConnection
    ) throws -> Int64? {
        guard !plan.streamsOfRevocations.isEmpty else { return nil }
        let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name)]
        let until = try connection.transaction(.readCommitted) { connection in
            try connection.script(defaultPlanner)
            let until = try connection.run("SELECT now() AS until")[0].timestamp("until")
            _ = try connection.run(
                .markRefunded,
                [
                    "app": key[0],
                    "job": key[1],
                    "margin_milliseconds": .bigint(commitMargin.wholeMilliseconds),
                    "streams": .textArray(plan.streamsOfIDs.map(\.rawValue)),
                ]
            )
            return until
        }
        let staged = try StagedIDs.select(
            .refundsDue,
            [
                "app": key[0],
                "job": key[1],
                "run": .bigint(run),
                "all_runs": .boolean(plan.changedSince != nil),
                "streams": .textArray(plan.streamsOfIDs.map(\.rawValue)),
                "refund_streams": .textArray(plan.streamsOfRevocations.map(\.rawValue)),
                "unknown_codes": .textArray(codesOfUnknownIDs),
            ],
            on: connection
        )
        let planner = ItemPlanner(plan: plan)
        _ = try planner.noteFilters(of: plan.streamsOfRevocations, on: connection)
        _ = try planner.planBatches(of: plan.streamsOfRevocations, staged, run: run, inPhase: 1, on: connection) {
            connection in
            _ = try connection.runOnce(
                """
                UPDATE crawl_items i SET refunds_due = false FROM stage_ids listed
                 WHERE i.app_id = $1 AND i.job = $2 AND i.item_key = listed.item_key AND i.refunds_due
                   AND i.stream = ANY ($3::text[])
                """,
                key + [.textArray(plan.streamsOfIDs.map(\.rawValue))]
            )
        }
        try StagedIDs.empty(on: connection)
        return until
    }

    /// Plans the members of the known groups.
    private static func planGroups(
        _ plan: RunPlan,
        run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        guard !plan.streamsOfGroups.isEmpty else { return }
        let groups = try StagedIDs.select(
            .groupsDue,
            ["app": .integer(plan.app.rawValue), "run": .bigint(run)],
            on: connection
        )
        let planner = ItemPlanner(plan: plan)
        _ = try planner.noteFilters(of: plan.streamsOfGroups, on: connection)
        _ = try planner.planBatches(of: plan.streamsOfGroups, groups, run: run, inPhase: 1, on: connection)
        try StagedIDs.empty(on: connection)
    }

    /// How far before the last run's moment a run reads again, to find rows that were not committed at that moment.
    ///
    /// A row has the time at which its transaction began. A page's transaction ends within a minute.
    static let commitMargin = Duration.seconds(3_600)
}
