package import AppStoreModel
package import JobPlan
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

    package let batch: ActionBatch
    package let states: [String: Int64]
    /// When the oldest row whose outcome is not known was first sent; `nil` without such a row.
    package let unknownSince: UnixMilliseconds?
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
                SELECT min(first_sent_at) AS first_sent_at FROM action_rows
                 WHERE app_id = $1 AND batch_id = $2 AND state = ANY ($3::text[])
                """,
                [.integer(app.rawValue), .uuid(id), .textArray(unknown)]
            )[0].timestampOrNil("first_sent_at")
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
                unknownSince: oldest.map(UnixMilliseconds.init(rawValue:)),
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
