import AppStoreModel
import Basics
import Ledger
import Postgres

extension JobStatus {
    /// The failed items of all runs, and how many of them a retry would request again.
    struct Failures: StatusPart {
        /// Newest first, at most 20.
        var failures: [Failure] = []
        /// The number of IDs that do not exist at Apple.
        ///
        /// They are not part of ``failures``. Only `retry` requests them again. With a job file, those that have left its
        /// list do not count.
        var unknownIds: Int64 = 0
        /// One of them.
        var unknownIdExample: String?
        /// The number of failed items that `retry` would request again; `nil` without a job file.
        var retryable: Int64?

        static let words: KeyValuePairs = [
            "failures": "failed items", "unknownIds": "unknown IDs", "retryable": "items to retry",
        ]
        static let tables = ["crawl_items"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            guard isReadable(context) else { return Self() }
            let unknown = try unknownIDs(context, connection)
            let failures: [Failure] = try connection.values(
                """
                SELECT stream, error_code, coalesce(error_message, '') AS message, count(*) AS items, min(item_key) AS example,
                       max(run_id) AS run
                  FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND state = 'failed' AND coalesce(error_code, 0) <> ALL ($3::text[]::bigint[])
                 GROUP BY stream, error_code, error_message ORDER BY run DESC, items DESC, stream LIMIT 20
                """,
                context.jobKey + [.textArray(Ledger.codesOfUnknownIDs)]
            )
            return Self(
                failures: failures,
                unknownIds: try unknown.int64("ids"),
                unknownIdExample: try unknown.textOrNil("example"),
                retryable: try context.plan.map { try Ledger.countRetryable(by: $0, on: connection) }
            )
        }

        private static func unknownIDs(
            _ context: StatusContext,
            _ connection: borrowing PostgresConnection
        ) throws -> PostgresRow {
            let wholeLists = context.plan?.streamsOfWholeLists.map(\.rawValue) ?? []
            return try connection.run(
                """
                SELECT count(DISTINCT item_key) AS ids, min(item_key) AS example FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND state = 'failed' AND error_code = ANY ($3::text[]::bigint[])
                   AND NOT \(Ledger.isUnknownAndUnlisted(streams: 4, codes: 3))
                """,
                context.jobKey + [.textArray(Ledger.codesOfUnknownIDs), .textArray(wholeLists)]
            )[0]
        }

        func lines(in status: JobStatus) -> [String] {
            guard !failures.isEmpty || unknownIds > 0 else { return [] }
            return failures.map { $0.line(lastRun: status.runs.first?.run) } + unknownLines + retryLines
        }

        private var unknownLines: [String] {
            guard unknownIds > 0 else { return [] }
            let example = unknownIdExample.map { ", such as \($0)" } ?? ""
            return [
                "  unknown to Apple: \(counted(unknownIds, "ID"))\(example); to list them: storeledger failures JOB",
                "    remove wrong IDs from the list, or set sandboxFallback for testers",
                "    a job with changedSince requests them again only with: storeledger retry JOB",
            ]
        }

        private var retryLines: [String] {
            switch retryable {
            case nil: []
            case 0: ["  retry: none of them can be retried, because the job has changed or Apple no longer serves them"]
            case let items?: ["  retry: storeledger retry JOB requests \(counted(items, "failed item")) again"]
            }
        }
    }

    package var failures: [Failure] { self[Failures.self]?.failures ?? [] }
    package var unknownIds: Int64 { self[Failures.self]?.unknownIds ?? 0 }
    package var retryable: Int64? { self[Failures.self]?.retryable }

    /// Items that failed with the same error and have not been complete since.
    package struct Failure: Codable, Sendable, Equatable {
        package let stream: String
        package let errorCode: Int64?
        package let message: String
        package let items: Int64
        /// One of them.
        package let example: String
        /// The last run that requested one of them.
        package let run: Int64

        fileprivate func line(lastRun: Int64?) -> String {
            let code = errorCode.map { " (\($0))" } ?? ""
            let requested = run == lastRun ? "" : ", last requested in run \(run)"
            return "  failed: \(items) of \(stream): \(message)\(code), such as \(itemName(example))\(requested)"
        }
    }
}
