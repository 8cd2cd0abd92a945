import Ledger
package import LedgerSchema
import Postgres

/// An item that failed and has not been complete since.
package struct FailedItem: Sendable, Equatable {
    package let stream: String
    package let item: String
    /// Apple's errorCode, or the HTTP status if Apple sent no errorCode.
    package let errorCode: Int64?
    package let message: String
    /// In the last run that requested it, retries included.
    package let requests: Int64
    /// The last run that requested it.
    package let run: Int64
    package let failedAt: String?
}

/// Why items of a stream failed, and how many.
package struct FailureReason: Sendable, Equatable {
    package let stream: String
    /// Apple's errorCode, or the HTTP status if Apple sent no errorCode.
    package let errorCode: Int64?
    package let message: String
    package let items: Int64
}

extension Ledger {
    /// Why items of a job failed, over all runs: the reason with the most items first.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func failureReasons(of job: String, app: AppID) async throws -> [FailureReason] {
        try await transaction { connection in
            try connection.run(
                """
                SELECT stream, error_code, coalesce(error_message, '') AS message, count(*) AS items FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND state = 'failed'
                 GROUP BY 1, 2, 3 ORDER BY items DESC, stream, error_code, message
                """,
                [.integer(app.rawValue), .text(job)]
            ).map { row in
                FailureReason(
                    stream: try row.text("stream"),
                    errorCode: try row.int64OrNil("error_code"),
                    message: try row.text("message"),
                    items: try row.int64("items")
                )
            }
        }
    }

    /// The failed items of all runs of a job, by stream and key.
    ///
    /// - Parameters:
    ///   - reason: Only those that failed for this reason; `nil` for all.
    ///   - last: The last item of the previous batch; `nil` for the first batch.
    ///   - count: The most items to return.
    /// - Returns: The items; none at the end.
    /// - Throws: ``Postgres/PostgresError``.
    package func failedItems(
        of job: String,
        app: AppID,
        because reason: FailureReason? = nil,
        after last: FailedItem?,
        atMost count: Int
    ) async throws -> [FailedItem] {
        try await transaction { connection in
            try connection.run(
                .failedItems,
                [
                    "app": .integer(app.rawValue),
                    "job": .text(job),
                    "after_stream": .text(last?.stream ?? ""),
                    "after_item": .text(last?.item ?? ""),
                    "count": .bigint(Int64(count)),
                    "stream": reason.map { Cell.text($0.stream) } ?? .null,
                    "message": reason.map { Cell.text($0.message) } ?? .null,
                    "code": reason?.errorCode.map(Cell.bigint) ?? .null,
                ]
            ).map { row in
                FailedItem(
                    stream: try row.text("stream"),
                    item: try row.text("item_key"),
                    errorCode: try row.int64OrNil("error_code"),
                    message: try row.text("message"),
                    requests: try row.int64("request_count"),
                    run: try row.int64("run_id"),
                    failedAt: try row.textOrNil("failed")
                )
            }
        }
    }
}
