import Ledger
import LedgerTables
import Postgres

/// Everything the report shows, from one snapshot of the ledger: sums and counts, no customer's ID and no payload.
struct ReportFigures: Sendable {
    let app: String
    let environment: String
    let job: String
    /// The moment of the snapshot, ISO 8601 UTC.
    let readAt: String
    /// The moment of the ledger that the oldest of the materialised views shows, ISO 8601 UTC.
    let viewsAsOf: String?
    private let tables: [String: FigureTable]

    init(
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

    subscript(question: ReportQuestion) -> FigureTable {
        tables[question.name] ?? FigureTable(columns: question.columns, rows: [])
    }

    /// Whether the ledger knows nothing of the app and the job.
    var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

    /// Whether the job has ever run.
    var hasRun: Bool { !self[.runs].isEmpty }
}

extension Ledger {
    /// Reads what the report shows; an app or a job that is not known has empty tables.
    ///
    /// Only views are read, and only such as the analyst may.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotFilled(view:)``;
    ///   ``Postgres/PostgresError``.
    func reportFigures(of job: String, bundleId: String, environment: String) async throws -> ReportFigures {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.usualPlanner)
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
        // A parameter that a statement does not use has no type.
        let sql = "WITH asked AS (SELECT $1::integer AS app, $2::text AS job) \(question.sql)"
        let rows = try connection.run(sql, [.integer(app), .text(job)]).map { row in
            try question.columns.map { try row.textOrNil($0.name) }
        }
        return FigureTable(columns: question.columns, rows: rows)
    }

    /// Makes sure every view is there and filled.
    ///
    /// - Returns: The moment that the oldest of the materialised ones shows.
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
