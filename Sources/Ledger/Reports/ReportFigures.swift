import LedgerTables
import Postgres

/// The data of the report, from one snapshot of the ledger: totals and counts, without customer IDs and payloads.
package struct ReportFigures: Sendable {
    package let app: String
    package let environment: String
    package let job: String
    /// The time of the snapshot, ISO 8601 UTC.
    package let readAt: String
    /// The time of the oldest refresh of the materialized views, ISO 8601 UTC.
    package let viewsAsOf: String?
    private let tables: [String: FigureTable]

    package init(
        app: String,
        environment: String,
        job: String,
        readAt: String,
        viewsAsOf: String?,
        tables: [String: FigureTable]
    ) {
        self.app = app
        self.environment = environment
        self.job = job
        self.readAt = readAt
        self.viewsAsOf = viewsAsOf
        self.tables = tables
    }

    package subscript(question: ReportQuestion) -> FigureTable {
        tables[question.name] ?? FigureTable(columns: question.columns, rows: [])
    }

    /// Whether the ledger has no data of the app and the job.
    package var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

    /// Whether the job has ever run.
    package var hasRun: Bool { !self[.runs].isEmpty }
}

extension Ledger {
    /// Reads the data of the report; an unknown app or job has empty tables.
    ///
    /// Reads only views that the analyst role may read.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotFilled(view:)``;
    ///   ``Postgres/PostgresError``.
    package func reportFigures(of job: String, bundleId: String, environment: String) async throws -> ReportFigures {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.defaultPlanner)
            let viewsAsOf = try Self.oldestView(of: ReportQuestion.all, connection)
            let readAt = try connection.run("SELECT \(ReportQuestion.moment("now()")) AS moment")[0].text("moment")
            let apps = try connection.run(
                "SELECT app_id FROM masked_apps WHERE bundle_id = $1 AND environment = $2",
                [.text(bundleId), .text(environment)]
            )
            var tables: [String: FigureTable] = [:]
            if let app = try apps.first.map({ try $0.int32("app_id") }) {
                for question in ReportQuestion.all {
                    tables[question.name] = try Self.answer(to: question, app, job, connection)
                }
            }
            return ReportFigures(
                app: bundleId,
                environment: environment,
                job: job,
                readAt: readAt,
                viewsAsOf: viewsAsOf,
                tables: tables
            )
        }
    }

    private static func answer(
        to question: ReportQuestion,
        _ app: Int32,
        _ job: String,
        _ connection: borrowing PostgresConnection
    ) throws -> FigureTable {
        // PostgreSQL cannot infer the type of an unused parameter, so both are used here.
        let sql = "WITH asked AS (SELECT $1::integer AS app, $2::text AS job) \(question.sql)"
        let rows = try connection.run(sql, [.integer(app), .text(job)]).map { row in
            try question.columns.map { try row.textOrNil($0.name) }
        }
        return FigureTable(columns: question.columns, rows: rows)
    }

    /// Checks that every view exists and is filled.
    ///
    /// - Returns: The time of the oldest refresh of the materialized views.
    private static func oldestView(
        of questions: [ReportQuestion],
        _ connection: borrowing PostgresConnection
    ) throws -> String? {
        let views = Set(questions.flatMap(\.views)).union(["view_freshness"]).sorted()
        let missing = try connection.run(
            "SELECT name FROM unnest($1::text[]) name WHERE to_regclass(quote_ident(name)) IS NULL ORDER BY name",
            [.textArray(views)]
        ).map { try $0.text("name") }
        guard missing.isEmpty else { throw LedgerError.schemaOlder(missing: missing.map { "the view \($0)" }) }
        let empty = try connection.run(
            """
            SELECT relname FROM pg_class c JOIN unnest($1::text[]) name ON c.oid = to_regclass(quote_ident(name))
             WHERE NOT relispopulated ORDER BY relname
            """,
            [.textArray(views)]
        ).map { try $0.text("relname") }
        if let view = empty.first { throw LedgerError.viewNotFilled(view: view) }
        return try connection.run(
            "SELECT \(ReportQuestion.moment("min(refreshed_at)")) AS oldest FROM view_freshness WHERE view = ANY ($1::text[])",
            [.textArray(views)]
        )[0].textOrNil("oldest")
    }
}
