import AppStoreModel
import JobPlan
import LedgerTables
import Postgres

extension Ledger {
    /// Once histories and notifications have reached their end: plans the refund histories of those customers in
    /// whose history a revocation or a REFUND notification was ever seen.
    ///
    /// Only IDs this run listed are asked for. Several processes may call it; the first one plans, the others find it done.
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
                SELECT item_key FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND run_id = $3 AND stream <> 'refundHistory' AND saw_revocation
                   AND item_key ~ '^[0-9]{1,20}$'
                UNION
                SELECT t.listed_transaction_id FROM notifications n
                  JOIN transactions t ON t.app_id = n.app_id AND t.original_transaction_id = n.original_transaction_id
                 WHERE n.app_id = $1 AND n.notification_type = 'REFUND' AND t.listed_transaction_id IS NOT NULL
                   AND EXISTS (SELECT FROM crawl_items i WHERE i.app_id = $1 AND i.job = $2 AND i.run_id = $3
                                  AND i.stream = 'transactionHistory' AND i.item_key = t.listed_transaction_id)
                """,
                [.integer(plan.app.rawValue), .text(plan.job.name), .bigint(run)]
            )
            var start = RunStart(run: run, now: plan.now, joined: true, restarted: plan.restart)
            let planner = ItemPlanner(plan: plan)
            _ = try planner.dropErased(on: connection)
            try planner.planItems(of: .refundHistory, in: &start, on: connection)
            return true
        }
    }
}
