import AppStoreModel
import JobFiles
import LedgerSchema
package import Postgres
import Streams

extension Ledger {
    /// The number of failed items that a retry would request.
    package static func countRetryable(by plan: RunPlan, on connection: borrowing PostgresConnection) throws -> Int64 {
        try connection.run(.countRetryable, retryable(by: plan))[0].int64("items")
    }

    /// The values of the part `is_retryable.sql`.
    package static func retryable(by plan: RunPlan) -> KeyValuePairs<String, Cell> {
        let streams = plan.job.streams.names
        return [
            "app": .integer(plan.app.rawValue),
            "job": .text(plan.job.name),
            "streams": .textArray(streams.map(\.rawValue)),
            "filters": .textArray(streams.map { plan.job.queryFingerprint(for: $0) }),
            "oldest": .timestamp(plan.oldestNotification.rawValue),
            "whole_lists": .textArray(plan.streamsOfWholeLists.map(\.rawValue)),
            "unknown_codes": .textArray(codesOfUnknownIDs),
            "latest_now": .timestamp(plan.latestNow.rawValue),
        ]
    }

    /// The part `is_unknown_and_unlisted.sql`, for a statement whose parameters have numbers.
    ///
    /// Parameters: 1 app, 2 job; the numbers of those with ``RunPlan/streamsOfWholeLists`` and with ``codesOfUnknownIDs``.
    package static func isUnknownAndUnlisted(streams: Int, codes: Int) -> String {
        let numbers = ["app": 1, "job": 2, "whole_lists": streams, "unknown_codes": codes]
        return SQLStatement(
            file: PackageResources.is_unknown_and_unlisted_sql,
            parts: numbers.mapValues { Array("$\($0)".utf8) }
        ).text
    }
}
