import AppStoreModel
import JobPlan
package import LedgerSchema
package import Postgres

extension Ledger {
    /// The number of failed items that a retry would request.
    package static func countRetryable(by plan: RunPlan, on connection: borrowing PostgresConnection) throws -> Int64 {
        try connection.run("SELECT count(*) AS items FROM crawl_items WHERE \(isRetryable)", retryable(by: plan))[0]
            .int64("items")
    }

    /// Whether an item failed in any run, and the job would still request it in the same way.
    package static let isRetryable = """
        app_id = $1 AND job = $2 AND state = 'failed'
            AND (stream, fingerprint) IN (SELECT * FROM unnest($3::text[], $4::text[]))
            AND (window_end IS NULL OR window_end > $5::timestamptz)
        """

    /// The parameters of ``isRetryable``.
    package static func retryable(by plan: RunPlan) -> [Cell] {
        let streams = plan.job.streams.names
        return [
            .integer(plan.app.rawValue), .text(plan.job.name), .textArray(streams.map(\.rawValue)),
            .textArray(streams.map { plan.job.queryFingerprint(for: $0) }),
            .timestamp(plan.oldestNotification.rawValue),
        ]
    }
}
