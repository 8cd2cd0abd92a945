import AppStoreModel
import JobPlan
import LedgerTables
import Postgres

extension Ledger {
    /// Once histories and notifications have reached their end: plans the refund histories of those customers in
    /// whose history a revocation or a REFUND notification was ever seen.
    ///
    /// Only IDs this run listed are asked for; and where notifications name the customers, those as well whose refunds an
    /// earlier run still owes, because it was superseded or they failed: nothing may ever name them again. Several
    /// processes may call it; the first one plans, the others find it done.
    /// - Returns: Whether this call planned them.
    package func planRefundsOfRevoked(_ plan: RunPlan, run: Int64) async throws -> Bool {
        try await transaction { connection in
            try connection.script(Self.usualPlanner)
            let moved = try connection.run(
                """
                UPDATE runs SET phase = 2 WHERE app_id = $1 AND run_id = $2 AND phase = 1 AND finished_at IS NULL
                """,
                [.integer(plan.app.rawValue), .bigint(run)]
            )
            guard moved.affected == 1 else { return false }
            _ = try connection.run(
                """
                INSERT INTO stage_ids (item_key)
                SELECT i.item_key FROM crawl_items i
                 WHERE i.app_id = $1 AND i.job = $2 AND \(Self.isAsked) AND i.stream <> 'refundHistory' AND i.saw_revocation
                   AND i.item_key ~ '^[0-9]{1,20}$'
                UNION
                SELECT t.listed_transaction_id FROM notifications n
                  JOIN transactions t ON t.app_id = n.app_id AND t.original_transaction_id = n.original_transaction_id
                 WHERE n.app_id = $1 AND n.notification_type = 'REFUND' AND t.listed_transaction_id IS NOT NULL
                   AND EXISTS (SELECT FROM crawl_items i WHERE i.app_id = $1 AND i.job = $2 AND \(Self.isAsked)
                                  AND i.stream = 'transactionHistory' AND i.item_key = t.listed_transaction_id)
                """,
                [
                    .integer(plan.app.rawValue), .text(plan.job.name), .bigint(run), .boolean(plan.changedSince != nil),
                ]
            )
            var start = RunStart(run: run, now: plan.now, joined: true, restarted: plan.restart)
            let planner = ItemPlanner(plan: plan)
            _ = try planner.dropErased(on: connection)
            try planner.planItems(of: .refundHistory, in: &start, on: connection)
            try Staging.emptyIDs(on: connection)
            return true
        }
    }

    /// Whether an item `i` is this run's, or has read more of its customer's history than the refunds were asked for.
    ///
    /// Parameters: 1 app, 2 job, 3 run, 4 whether items of other runs count.
    private static let isAsked = """
        (i.run_id = $3 OR $4::boolean AND NOT EXISTS (
            SELECT FROM crawl_items r WHERE r.app_id = $1 AND r.job = $2 AND r.stream = 'refundHistory'
               AND r.item_key = i.item_key AND r.state = 'done' AND r.complete_until >= i.complete_until))
        """
}
