package import AppStoreModel
package import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// A batch with the number of its rows in each state.
package struct BatchStatus: Sendable {
    /// The rows that Apple refused for one reason.
    package struct Rejection: Sendable {
        package let code: Int64?
        package let message: String
        package let rows: Int64
    }

    /// A row whose outcome is not known.
    package struct Unknown: Sendable {
        package let position: Int64
        package let firstSentAt: UnixMilliseconds
        /// Why the outcome is not known; `nil` while the row is sent.
        package let message: String?
    }

    package let batch: ActionBatch
    package let states: [String: Int64]
    /// The row without a known outcome that was sent first; `nil` without such a row.
    package let oldestUnknown: Unknown?
    /// The cancelled rows that were not sent before Apple's deadline.
    package let rowsTooLate: Int64
    /// The most frequent first, at most ten.
    package let rejections: [Rejection]

    package func count(_ state: RowState) -> Int64 { states[state.rawValue, default: 0] }

    /// The rows of one result file.
    package func count(_ file: ActionResultFile) -> Int64 {
        RowState.allCases.filter { $0.file == file }.reduce(0) { $0 + count($1) }
    }
}

extension ActionLedger {
    /// The status of batches, in their order.
    package func statuses(of batches: [ActionBatch]) async throws -> [BatchStatus] {
        var statuses: [BatchStatus] = []
        for batch in batches { statuses.append(try await status(of: batch)) }
        return statuses
    }

    /// The rows of a batch by state, the age of unknown outcomes, and Apple's reasons.
    package func status(of batch: ActionBatch) async throws -> BatchStatus {
        let states = try await states(of: batch)
        let (app, id) = (app, batch.id)
        let unknown = RowState.allCases.filter { $0.file == .unknown }.map(\.rawValue)
        return try await ledger.transaction { connection in
            let oldest = try connection.run(
                """
                SELECT position, first_sent_at, apple_message FROM action_rows
                 WHERE app_id = $1 AND batch_id = $2 AND state = ANY ($3::text[]) AND first_sent_at IS NOT NULL
                 ORDER BY first_sent_at, position LIMIT 1
                """,
                [.integer(app.rawValue), .uuid(id), .textArray(unknown)]
            ).first.map { row in
                BatchStatus.Unknown(
                    position: try row.int64("position"),
                    firstSentAt: UnixMilliseconds(rawValue: try row.timestamp("first_sent_at")),
                    message: try row.textOrNil("apple_message")
                )
            }
            let late = try connection.run(
                """
                SELECT count(*) AS rows FROM action_rows
                 WHERE app_id = $1 AND batch_id = $2 AND state = 'cancelled' AND send_by <= ended_at
                """,
                [.integer(app.rawValue), .uuid(id)]
            )[0].int64("rows")
            let rejections = try connection.run(
                """
                SELECT apple_code, coalesce(min(apple_message), '') AS message, count(*) AS rows FROM action_rows
                 WHERE app_id = $1 AND batch_id = $2 AND state = 'rejected' GROUP BY apple_code ORDER BY 3 DESC, 1 LIMIT 10
                """,
                [.integer(app.rawValue), .uuid(id)]
            ).map { row in
                BatchStatus.Rejection(
                    code: try row.int64OrNil("apple_code"),
                    message: try row.text("message"),
                    rows: try row.int64("rows")
                )
            }
            return BatchStatus(
                batch: batch,
                states: states,
                oldestUnknown: oldest,
                rowsTooLate: late,
                rejections: rejections
            )
        }
    }

    /// The rejected rows of the newest batch that was sent, as the input of a new batch.
    ///
    /// - Throws: ``ActionRefusal/nothingToRetry(job:)``.
    package func rejectedRows() async throws -> BatchSource {
        for batch in try await batches() where batch.startedAt != nil {
            let states = try await states(of: batch)
            guard states[RowState.rejected.rawValue, default: 0] + states[RowState.notApplied.rawValue, default: 0] > 0
            else { break }
            return BatchSource(rejectedRowsOf: batch, app: app)
        }
        throw ActionRefusal.nothingToRetry(job: job.name)
    }
}
