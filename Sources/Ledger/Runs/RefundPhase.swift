import AppStoreModel
import JobPlan
import LedgerTables
import Postgres

extension Ledger {
    /// Plans the refund histories of customers with a revocation or a REFUND notification in their history.
    ///
    /// Call it when histories and notifications are complete.
    ///
    /// Only customers of this run are requested. With `changedSince`, customers whose refunds an earlier run did not
    /// finish
    /// are included, because no notification may mention them again. The cost depends on what this run has read and
    /// what was
    /// stored since the last one, not on the size of the ledger. Several processes can call it; one of them moves the
    /// run on.
    /// - Returns: Whether this call moved the run to phase 2.
    package func planRefundsOfRevoked(_ plan: RunPlan, run: Int64) async throws -> Bool {
        try await persistently { connection in
            let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name)]
            let until = try connection.transaction(.readCommitted) { connection in
                try connection.script(Self.defaultPlanner)
                let until = try connection.run("SELECT now() AS until")[0].timestamp("until")
                _ = try connection.run(
                    Self.markRefunded,
                    key + [
                        .bigint(Self.commitMargin.wholeMilliseconds), .textArray(plan.streamsOfIDs.map(\.rawValue)),
                    ]
                )
                return until
            }
            let staged = try StagedIDs.select(
                Self.refundsDue,
                key + [
                    .bigint(run), .boolean(plan.changedSince != nil), .textArray(Self.codesOfUnknownIDs),
                    .textArray(plan.streamsOfRevocations.map(\.rawValue)),
                ],
                on: connection
            )
            let planner = ItemPlanner(plan: plan)
            _ = try planner.noteFilters(of: plan.streamsOfRevocations, on: connection)
            _ = try planner.planBatches(of: plan.streamsOfRevocations, staged, run: run, inPhase: 1, on: connection) {
                connection in
                _ = try connection.run(
                    """
                    UPDATE crawl_items i SET refunds_due = false FROM stage_ids listed
                     WHERE i.app_id = $1 AND i.job = $2 AND i.item_key = listed.item_key AND i.refunds_due
                       AND i.stream = ANY ($3::text[])
                    """,
                    key + [.textArray(plan.streamsOfIDs.map(\.rawValue))]
                )
            }
            return try connection.transaction(.readCommitted) { connection in
                let moved = try connection.run(
                    """
                    UPDATE runs SET phase = 2, refunds_followed_until = $3
                     WHERE app_id = $1 AND run_id = $2 AND phase = 1 AND finished_at IS NULL
                    """,
                    [key[0], .bigint(run), .timestamp(until)]
                )
                _ = try connection.run("SELECT analyze_crawl_items()")
                return moved.affected == 1
            }
        }
    }

    /// The margin for rows that were not yet visible at a moment, although their transaction had begun.
    ///
    /// Rows have the time at which their transaction began. A page's transaction ends within a minute.
    static let commitMargin = Duration.seconds(3_600)

    /// Marks the customers of the REFUND notifications that were stored since the job last looked.
    ///
    /// Parameters: app, job, ``commitMargin`` in ms, streams of listed IDs.
    private static let markRefunded = """
        UPDATE crawl_items i SET saw_revocation = true, refunds_due = true
          FROM (SELECT DISTINCT t.listed_transaction_id AS id
                  FROM notifications n
                  JOIN transactions t ON t.app_id = n.app_id AND t.original_transaction_id = n.original_transaction_id
                 WHERE n.app_id = $1 AND n.notification_type = 'REFUND' AND t.listed_transaction_id IS NOT NULL
                   AND n.first_seen_at >= coalesce((SELECT max(r.refunds_followed_until) FROM runs r WHERE r.app_id = $1 AND r.job = $2),
                                                   '-infinity') - $3::bigint * interval '1 millisecond') refunded
         WHERE i.app_id = $1 AND i.job = $2 AND i.stream = ANY ($4::text[]) AND i.item_key = refunded.id
           AND NOT (i.saw_revocation AND i.refunds_due)
        """

    /// The customers whose refunds this run requests.
    ///
    /// Parameters: app, job, run, whether customers of other runs count, Apple's codes for IDs that do not exist,
    /// streams of customers with a revocation.
    private static let refundsDue = """
        SELECT i.item_key FROM crawl_items i
         WHERE i.app_id = $1 AND i.job = $2 AND i.refunds_due AND (i.run_id = $3 OR $4::boolean)
           AND i.stream <> ALL ($6::text[]) AND i.item_key ~ '^[0-9]{1,20}$'
         UNION
        SELECT i.item_key FROM crawl_items i
         WHERE $4 AND i.app_id = $1 AND i.job = $2 AND i.stream = ANY ($6) AND i.state = 'failed'
           AND coalesce(i.error_code, 0) <> ALL ($5::text[]::bigint[])
        """
}
