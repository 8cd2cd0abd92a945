package import AppStoreModel
import LedgerTables
import Postgres
import Workers

extension Ledger {
    /// The database's clock: the one every machine shares.
    package func now() async throws -> UnixMilliseconds {
        try await transaction { connection in
            UnixMilliseconds(rawValue: try connection.run("SELECT clock_timestamp() AS now")[0].timestamp("now"))
        }
    }

    /// How a run stands for a process that has worked on it.
    package enum RunEnd: Sendable {
        case unfinished
        /// Some process has seen it to its end.
        case finished
        /// Another run of the job took its place, and its items.
        case superseded
    }

    /// Whether, and how, a run has ended.
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

    /// What `runs.exit_code` holds of a run whose place another took: work was left.
    static let supersededCode: Int64 = 75

    /// Counts a run from its items.
    package func summary(of run: Int64, app: AppID, job: String) async throws -> RunSummary {
        try await transaction { connection in
            try Self.count(run, app: app, job: job, on: connection)
        }
    }

    /// Files a run's counts and how the process that worked on it ended; finishes it when no work is left.
    ///
    /// - Parameters:
    ///   - run: The run.
    ///   - app: Its app.
    ///   - job: Its job.
    ///   - exitCode: Of this process; `nil` for what the run's own result demands.
    ///   - message: Why work is left; `nil` when none is.
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
            // Before the items are counted: a retry that takes some of them up again finds the run open, or over.
            _ = try connection.run(
                "SELECT FROM runs WHERE app_id = $1 AND run_id = $2 FOR UPDATE",
                [.integer(app.rawValue), .bigint(run)]
            )
            let summary = try Self.count(run, app: app, job: job, on: connection)
            try Self.file(
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

    /// Writes a run's counts into its row, unless it is over already.
    static func file(
        _ summary: RunSummary,
        app: AppID,
        exitCode: Int32,
        message: String?,
        isOver: Bool,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        _ = try connection.run(
            """
            UPDATE runs SET exit_code = $3, message = $4, items = $5, items_failed = $6, pages = $7, requests = $8,
                   rows_new = $9, rows_updated = $10, rows_unchanged = $11, records_rejected = $12, gaps = $13,
                   records_withheld = $15,
                   finished_at = CASE WHEN $14::boolean THEN clock_timestamp() END
             WHERE app_id = $1 AND run_id = $2 AND finished_at IS NULL
            """,
            [
                .integer(app.rawValue), .bigint(summary.run), .integer(exitCode), message.map(Cell.text) ?? .null,
                .bigint(summary.items), .bigint(summary.itemsFailed), .bigint(summary.pages),
                .bigint(summary.requests), .bigint(summary.rowsNew), .bigint(summary.rowsUpdated),
                .bigint(summary.rowsUnchanged), .bigint(summary.recordsRejected), .bigint(summary.gaps),
                .boolean(isOver), .bigint(summary.recordsWithheld),
            ]
        )
    }

    static func count(
        _ run: Int64,
        app: AppID,
        job: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> RunSummary {
        let row = try connection.run(
            """
            SELECT count(*) AS items, count(*) FILTER (WHERE state = 'done') AS done,
                   count(*) FILTER (WHERE state = 'failed') AS failed,
                   coalesce(sum(page_count), 0) AS pages, coalesce(sum(request_count), 0) AS requests,
                   coalesce(sum(rows_new), 0) AS rows_new, coalesce(sum(rows_updated), 0) AS rows_updated,
                   coalesce(sum(rows_unchanged), 0) AS rows_unchanged, coalesce(sum(records_rejected), 0) AS rejected,
                   coalesce(sum(records_withheld), 0) AS withheld,
                   (SELECT count(*) FROM coverage_gaps WHERE app_id = $1 AND job = $2 AND run_id = $3) AS gaps,
                   (SELECT withheld_ids FROM runs WHERE app_id = $1 AND run_id = $3) AS withheld_ids
              FROM crawl_items WHERE app_id = $1 AND job = $2 AND run_id = $3
            """,
            [.integer(app.rawValue), .text(job), .bigint(run)]
        )[0]
        var summary = RunSummary(run: run)
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
        return summary
    }
}
