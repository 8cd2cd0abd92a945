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
    ///
    /// A window whose end lies in the future is left to the next run, which plans its time again.
    package static let isRetryable = """
        app_id = $1 AND job = $2 AND state = 'failed'
            AND (stream, fingerprint) IN (SELECT * FROM unnest($3::text[], $4::text[]))
            AND (window_end IS NULL OR window_end > $5::timestamptz AND window_end <= greatest($8::timestamptz, clock_timestamp()))
            AND NOT \(isUnknownAndUnlisted(streams: 6, codes: 7))
        """

    /// The parameters of ``isRetryable``.
    package static func retryable(by plan: RunPlan) -> [Cell] {
        let streams = plan.job.streams.names
        return [
            .integer(plan.app.rawValue), .text(plan.job.name), .textArray(streams.map(\.rawValue)),
            .textArray(streams.map { plan.job.queryFingerprint(for: $0) }),
            .timestamp(plan.oldestNotification.rawValue),
            .textArray(plan.streamsOfWholeLists.map(\.rawValue)), .textArray(codesOfUnknownIDs),
            .timestamp(plan.latestNow.rawValue),
        ]
    }

    /// Whether Apple does not know the ID of a failed item, and the ID has left the job's list.
    ///
    /// A run requests every ID of its lists, so the ID has left if the last complete run did not request the item. Other
    /// failed items stay, because a list can name other customers each night.
    ///
    /// Parameters: 1 app, 2 job; the numbers of those with ``RunPlan/streamsOfWholeLists`` and with ``codesOfUnknownIDs``.
    static func isUnknownAndUnlisted(streams: Int, codes: Int) -> String {
        """
        (stream = ANY ($\(streams)::text[]) AND coalesce(error_code, 0) = ANY ($\(codes)::text[]::bigint[])
            AND run_id < coalesce((SELECT max(run_id) FROM runs WHERE app_id = $1 AND job = $2 AND finished_at IS NOT NULL
                AND exit_code IN (0, 2) AND NOT is_retry AND empty_lists = 0), 0))
        """
    }
}
