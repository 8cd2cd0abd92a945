import Ledger
import Postgres

/// The report's figures from one snapshot of the ledger: sums and counts, without customer IDs and payloads.
struct ReportFigures: Sendable {
    let app: String
    let environment: String
    let job: String
    /// The time of the snapshot, ISO 8601 UTC; of a replica, the time until which it has everything.
    let readAt: String
    /// The days 30 and 60 days before it, ISO 8601.
    let daysBefore: (thirty: String, sixty: String)
    /// The data time of the views that show the last refresh, ISO 8601 UTC.
    let viewsAsOf: String?
    /// Whether a job of the app has taken its customers from notifications.
    let followsNotifications: Bool
    private let tables: [String: FigureTable]

    init(
        app: String,
        environment: String,
        job: String,
        readAt: String,
        daysBefore: (thirty: String, sixty: String),
        viewsAsOf: String?,
        followsNotifications: Bool = false,
        tables: [String: FigureTable]
    ) {
        self.app = app
        self.environment = environment
        self.job = job
        self.readAt = readAt
        self.daysBefore = daysBefore
        self.viewsAsOf = viewsAsOf
        self.followsNotifications = followsNotifications
        self.tables = tables
    }

    subscript(question: ReportQuestion) -> FigureTable {
        tables[question.name] ?? FigureTable(columns: question.columns, rows: [])
    }

    /// Whether the ledger has no data of the app and the job.
    var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

    /// Whether the job has run before.
    var hasRun: Bool { !self[.runs].isEmpty }
}

extension Ledger {
    /// Reads the report's figures; an unknown app or job has empty tables.
    ///
    /// Reads only views, and only those that the analyst may read.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotRefreshed(view:)``;
    ///   ``Postgres/PostgresError``.
    func reportFigures(of job: String, bundleId: String, environment: String) async throws -> ReportFigures {
        try await snapshot { connection, replica in
            try connection.script(Self.defaultPlanner)
            let ages = try Self.ages(of: ReportQuestion.all, connection)
            let clock = try connection.run(
                """
                SELECT \(ReportQuestion.moment("now()")) AS moment, (now() - interval '30 days')::date::text AS thirty,
                       (now() - interval '60 days')::date::text AS sixty
                """
            )[0]
            // A replica shows the past.
            let readAt = try replica?.appliedUntil ?? clock.text("moment")
            let apps = try connection.run(
                "SELECT app_id FROM masked_apps WHERE bundle_id = $1 AND environment = $2",
                [.text(bundleId), .text(environment)]
            )
            var followsNotifications = false
            var tables: [String: FigureTable] = [:]
            if let app = try apps.first.map({ try $0.int32("app_id") }) {
                followsNotifications = try connection.run(
                    "SELECT EXISTS (SELECT FROM masked_runs WHERE app_id = $1 AND customers_since IS NOT NULL) AS follows",
                    [.integer(app)]
                )[0].bool("follows")
                for question in ReportQuestion.all {
                    let asOf = question.views.compactMap { ages[$0] }.min() ?? readAt
                    tables[question.name] = try Self.answer(to: question, app, job, asOf: asOf, connection)
                }
            }
            return ReportFigures(
                app: bundleId,
                environment: environment,
                job: job,
                readAt: readAt,
                daysBefore: (try clock.text("thirty"), try clock.text("sixty")),
                viewsAsOf: ages.values.min(),
                followsNotifications: followsNotifications,
                tables: tables
            )
        }
    }

    private static func answer(
        to question: ReportQuestion,
        _ app: Int32,
        _ job: String,
        asOf: String,
        _ connection: borrowing PostgresConnection
    ) throws -> FigureTable {
        let rows = try connection.run(question.statement, ["app": .integer(app), "job": .text(job)]).map { row in
            try question.columns.map { try row.textOrNil($0.name) }
        }
        return FigureTable(columns: question.columns, rows: rows, asOf: asOf)
    }

    /// Checks that every view exists and was refreshed.
    ///
    /// - Returns: The data time of each view that shows the last refresh, ISO 8601 UTC.
    private static func ages(
        of questions: [ReportQuestion],
        _ connection: borrowing PostgresConnection
    ) throws -> [String: String] {
        let views = Set(questions.flatMap(\.views)).union(["view_freshness"]).sorted()
        let missing = try connection.run(
            "SELECT name FROM unnest($1::text[]) name WHERE to_regclass(quote_ident(name)) IS NULL ORDER BY name",
            [.textArray(views)]
        ).map { try $0.text("name") }
        guard missing.isEmpty else { throw LedgerError.schemaOlder(missing: missing.map { "the view \($0)" }) }
        let ages = try connection.run(
            """
            SELECT view, \(ReportQuestion.moment("refreshed_at")) AS moment FROM view_freshness
             WHERE view = ANY ($1::text[]) ORDER BY view
            """,
            [.textArray(views)]
        ).map { row in
            let view = try row.text("view")
            guard let moment = try row.textOrNil("moment") else { throw LedgerError.viewNotRefreshed(view: view) }
            return (view, moment)
        }
        return Dictionary(uniqueKeysWithValues: ages)
    }
}
