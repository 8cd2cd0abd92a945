package import AppStoreModel
import Basics
package import Postgres
package import LedgerSchema

extension Ledger {
    /// The database's clock, which all machines share.
    package func now() async throws -> UnixMilliseconds {
        try await transaction { connection in
            UnixMilliseconds(rawValue: try connection.run("SELECT clock_timestamp() AS now")[0].timestamp("now"))
        }
    }

    /// Whether a run has ended, and how.
    package enum RunEnd: Sendable {
        case unfinished
        /// A process has finished the run.
        case finished
        /// Another run of the job has replaced it.
        case superseded
    }

    /// Reads whether a run has ended, and how.
    package func end(of run: Int64, app: AppID) async throws -> RunEnd {
        try await transaction { connection in
            let row = try connection.run(
                "SELECT finished_at IS NOT NULL AS finished, exit_code FROM runs WHERE app_id = $1 AND run_id = $2",
                [.integer(app.rawValue), .bigint(run)]
            )[0]
            guard try row.bool("finished") else { return .unfinished }
            return try row.int64OrNil("exit_code") == Self.supersededCode ? .superseded : .finished
        }
    }

    /// The `runs.exit_code` of a superseded run: work was left.
    package static let supersededCode: Int64 = 75

    /// Computes the counts of a run from its items.
    package func summary(of run: Int64, app: AppID, job: String) async throws -> RunSummary {
        try await transaction { connection in
            try Self.count(run, app: app, job: job, on: connection)
        }
    }

    /// Counts a run's items by stream.
    package func itemCounts(of run: Int64, app: AppID, job: String) async throws -> [StreamName: ItemCounts] {
        try await transaction { connection in
            let rows = try connection.run(
                """
                SELECT stream, count(*) AS items, count(*) FILTER (WHERE state IN ('done', 'failed')) AS done
                  FROM crawl_items WHERE app_id = $1 AND job = $2 AND run_id = $3 GROUP BY stream
                """,
                [.integer(app.rawValue), .text(job), .bigint(run)]
            )
            var counts: [StreamName: ItemCounts] = [:]
            for row in rows {
                let stream = StreamName(try row.text("stream"))
                counts[stream] = ItemCounts(items: try row.int64("items"), done: try row.int64("done"))
            }
            return counts
        }
    }

    /// Stores a run's counts and the result of this process, and finishes the run if no work is left.
    ///
    /// - Parameters:
    ///   - exitCode: The exit code of this process; `nil` to derive it from the run's result.
    ///   - message: Why work is left; `nil` if none is.
    /// - Returns: The run's counts.
    /// - Throws: ``Postgres/PostgresError``.
    package func conclude(
        _ run: Int64,
        app: AppID,
        job: String,
        exitCode: Int32?,
        message: String?
    ) async throws -> RunSummary {
        try await transaction { connection in
            // Locks the run before counting, so that a concurrent retry sees it either open or finished.
            _ = try connection.run(
                "SELECT FROM runs WHERE app_id = $1 AND run_id = $2 FOR UPDATE",
                [.integer(app.rawValue), .bigint(run)]
            )
            let summary = try Self.count(run, app: app, job: job, on: connection)
            try Self.storeCounts(
                summary,
                app: app,
                exitCode: exitCode ?? summary.exitCode,
                message: message,
                isOver: message == nil && summary.isComplete,
                on: connection
            )
            crashPoint(.runConcluded)
            return summary
        }
    }

    /// Writes a run's counts to its row, unless the run is already finished.
    package static func storeCounts(
        _ summary: RunSummary,
        app: AppID,
        exitCode: Int32,
        message: String?,
        isOver: Bool,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        _ = try connection.run(
            .storeCounts,
            [
                "app": .integer(app.rawValue),
                "run": .bigint(summary.run),
                "exit_code": .integer(exitCode),
                "message": message.map(Cell.text) ?? .null,
                "items": .bigint(summary.items),
                "items_failed": .bigint(summary.itemsFailed),
                "pages": .bigint(summary.pages),
                "requests": .bigint(summary.requests),
                "rows_new": .bigint(summary.rowsNew),
                "rows_updated": .bigint(summary.rowsUpdated),
                "rows_unchanged": .bigint(summary.rowsUnchanged),
                "records_rejected": .bigint(summary.recordsRejected),
                "gaps": .bigint(summary.gaps),
                "is_over": .boolean(isOver),
                "records_withheld": .bigint(summary.recordsWithheld),
            ]
        )
    }

    package static func count(
        _ run: Int64,
        app: AppID,
        job: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> RunSummary {
        let row = try connection.run(
            .countRun,
            [
                "app": .integer(app.rawValue),
                "job": .text(job),
                "run": .bigint(run),
            ]
        )[0]
        var summary = RunSummary(run: run)
        summary.listedIDs = try row.int64OrNil("listed_ids") ?? 0
        summary.items = try row.int64("items")
        summary.itemsDone = try row.int64("done")
        summary.itemsFailed = try row.int64("failed")
        summary.pages = try row.int64("pages")
        summary.requests = try row.int64("requests")
        summary.rowsNew = try row.int64("rows_new")
        summary.rowsUpdated = try row.int64("rows_updated")
        summary.rowsUnchanged = try row.int64("rows_unchanged")
        summary.recordsRejected = try row.int64("rejected")
        summary.gaps = try row.int64("gaps")
        summary.recordsWithheld = try row.int64("withheld")
        summary.idsWithheld = try row.int64OrNil("withheld_ids") ?? 0
        summary.emptyLists = try row.int64OrNil("empty_lists") ?? 0
        summary.unreadableReceipts = try row.int64OrNil("unreadable_receipts") ?? 0
        return summary
    }
}
