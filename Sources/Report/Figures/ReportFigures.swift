import Ledger
import Postgres

/// An app in one environment, and the job whose runs the report shows.
package struct ReportSubject: Sendable {
    let bundleId: String
    /// `Production` or `Sandbox`.
    let environment: String
    package let job: String

    package init(bundleId: String, environment: String, job: String) {
        (self.bundleId, self.environment, self.job) = (bundleId, environment, job)
    }
}

/// The report's figures from one snapshot of the ledger: sums and counts, without customer IDs and payloads.
struct ReportFigures: Sendable {
    let subjects: [ReportSubject]
    /// The time of the snapshot, ISO 8601 UTC; of a replica, the time until which it has everything.
    let readAt: String
    /// The data time of the views that show the last refresh, ISO 8601 UTC.
    let viewsAsOf: String?
    /// Whether a job of the app has taken its customers from notifications.
    var followsNotifications = false
    var scope: ReportScope
    /// By the ID of the chart that has the question.
    var tables: [String: FigureTable] = [:]

    subscript(chart: ReportChart) -> FigureTable { tables[chart.source] ?? FigureTable(columns: [], rows: []) }

    /// Whether the ledger has no data of the app and the job.
    var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

    /// Whether the job has run before.
    var hasRun: Bool { !self[.named("runs")].isEmpty }

    /// Whether the newest day was over at the time of the data.
    var isNewestDayOver: Bool { (viewsAsOf ?? readAt).hasSuffix("T00:00:00Z") }

    /// The last day whose figures the views have, whole or in part.
    var newestDay: CalendarDay {
        let day = CalendarDay(viewsAsOf ?? readAt) ?? scope.daysFrom
        return isNewestDayOver ? day.yesterday : day
    }

    /// The first month with figures, counted from the year 0.
    var firstMonth: Int {
        let times = ReportChart.questions.compactMap { chart -> String? in
            guard let time = chart.time, let table = tables[chart.id], !table.isEmpty else { return nil }
            return table.values(time.name).compactMap(\.self).min()
        }
        return min(times.min().flatMap(CalendarDay.init)?.monthNumber ?? .max, scope.daysFrom.monthNumber)
    }
}

extension Ledger {
    /// Reads the report's figures; an unknown app or job has empty tables.
    ///
    /// Reads only views and the exchange rates, and only those that the analyst may read.
    /// - Parameters:
    ///   - subjects: At least one app and its job.
    ///   - detail: The place in ``ReportDetail/all``; `nil` for the finest that should fit.
    /// - Returns: The figures, and the place of their detail.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotRefreshed(view:)``;
    ///   ``Postgres/PostgresError``.
    func reportFigures(of subjects: [ReportSubject], detail: Int? = nil) async throws -> (ReportFigures, detail: Int) {
        try await snapshot { connection, replica in
            // Without statistics, as in a new ledger, the planner would join days and rates row by row. The memory is for sums of millions of rows.
            try connection.script(
                Self.defaultPlanner + "; SET LOCAL enable_nestloop = off; SET LOCAL work_mem = '128MB'"
            )
            let ages = try Self.ages(of: ReportChart.questions, connection)
            let now = try connection.run("SELECT to_char(now(), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') AS moment")[0].text(
                "moment"
            )
            // A replica shows the past.
            let readAt = replica?.appliedUntil ?? now
            let today = CalendarDay(readAt) ?? CalendarDay(month: 0)
            var figures = ReportFigures(
                subjects: subjects,
                readAt: readAt,
                viewsAsOf: ages.values.min(),
                scope: ReportScope(daysFrom: CalendarDay(month: today.monthNumber))
            )
            var known: [(subject: ReportSubject, number: String)] = []
            for subject in subjects {
                let found = try connection.run(
                    "SELECT app_id::text AS app_id FROM masked_apps WHERE bundle_id = $1 AND environment = $2",
                    [.text(subject.bundleId), .text(subject.environment)]
                )
                if let app = try found.first?.text("app_id") { known.append((subject, app)) }
            }
            guard !known.isEmpty else { return (figures, ReportDetail.all.count - 1) }
            let numbers = known.map(\.number)
            figures.followsNotifications = try connection.run(
                """
                SELECT EXISTS (SELECT FROM masked_runs
                                WHERE app_id = ANY ($1::text[]::integer[]) AND customers_since IS NOT NULL) AS follows
                """,
                [.textArray(numbers)]
            )[0].bool("follows")
            figures.scope.apps = known.map(\.subject.bundleId)
            let place = try figures.scope.read(apps: numbers, today, detail, connection)
            for chart in ReportChart.questions {
                let asOf = chart.views.compactMap { ages[$0] }.min() ?? readAt
                figures.tables[chart.id] =
                    try chart.isPlain
                    ? Self.plain(chart, of: known, asOf: asOf, connection)
                    : Self.sums(chart, of: numbers, figures.scope, asOf: asOf, connection)
            }
            return (figures, place)
        }
    }

    private static func sums(
        _ chart: ReportChart,
        of apps: [String],
        _ scope: ReportScope,
        asOf: String,
        _ connection: borrowing PostgresConnection
    ) throws -> FigureTable {
        let columns = chart.answer(hasApps: apps.count > 1)
        let statement = SQLStatement.figures(chart, hasApps: apps.count > 1, hasRates: scope.reporting != nil)
        let rows = try connection.run(
            statement,
            [
                "apps": .textArray(apps), "products": .textArray(scope.products),
                "storefronts": .textArray(scope.storefronts),
                "currencies": .textArray(scope.currencies), "days_from": .text(scope.daysFrom.text),
                "reporting": scope.reporting.map(Cell.text) ?? .null,
            ]
        ).map { row in try columns.map { try row.textOrNil($0) } }
        return FigureTable(columns: columns, rows: rows, asOf: asOf)
    }

    /// The rows of each app, one app after the other.
    private static func plain(
        _ chart: ReportChart,
        of known: [(subject: ReportSubject, number: String)],
        asOf: String,
        _ connection: borrowing PostgresConnection
    ) throws -> FigureTable {
        let columns = chart.columns.filter { $0.formula == nil }.map(\.name)
        let hasApps = known.count > 1
        let statement = SQLStatement.figures(chart, hasApps: false, hasRates: false)
        var rows: [[String?]] = []
        for (subject, number) in known {
            rows += try connection.run(
                statement,
                ["app": Int32(number).map(Cell.integer) ?? .null, "job": .text(subject.job)]
            ).map { row in (hasApps ? [subject.bundleId] : []) + (try columns.map { try row.textOrNil($0) }) }
        }
        return FigureTable(columns: (hasApps ? ["app_id"] : []) + columns, rows: rows, asOf: asOf)
    }

    /// Checks that every view exists and was refreshed.
    ///
    /// - Returns: The data time of each view that shows the last refresh, ISO 8601 UTC.
    private static func ages(
        of charts: [ReportChart],
        _ connection: borrowing PostgresConnection
    ) throws -> [String: String] {
        let views = Set(charts.flatMap(\.views)).union([
            "exchange_rate_days", "reporting_currencies", "storefronts", "view_freshness",
        ]).sorted()
        let missing = try connection.run(
            "SELECT name FROM unnest($1::text[]) name WHERE to_regclass(quote_ident(name)) IS NULL ORDER BY name",
            [.textArray(views)]
        ).map { try $0.text("name") }
        guard missing.isEmpty else { throw LedgerError.schemaOlder(missing: missing.map { "the view \($0)" }) }
        let ages = try connection.run(
            """
            SELECT view, to_char(refreshed_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS moment FROM view_freshness
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

extension ReportScope {
    /// Finds what is largest, and how much of it a page can have in full.
    ///
    /// - Returns: The place of the detail.
    fileprivate mutating func read(
        apps: [String],
        _ today: CalendarDay,
        _ detail: Int?,
        _ connection: borrowing PostgresConnection
    ) throws -> Int {
        reporting = try connection.run(.reportingCurrency).first?.text("reporting_currency")
        var names: [String: [String]] = [:]
        for row in try connection.run(.segments, ["apps": .textArray(apps)]) {
            names[try row.text("segment"), default: []].append(try row.text("name"))
        }
        let (all, stores, money) = (names["product_id"] ?? [], names["storefront"] ?? [], names["currency"] ?? [])
        let size = try connection.run(.cells, ["apps": .textArray(apps)])[0]
        let place =
            try detail ?? ReportDetail.first(cells: Int(size.int64("cells")), history: Int(size.int64("months")))
        let kept = ReportDetail.all[place]
        products = Array(all.prefix(kept.products))
        storefronts = Array(stores.prefix(kept.storefronts))
        currencies = Array(money.prefix(kept.currencies))
        for row in try connection.run(
            "SELECT storefront, country FROM storefronts WHERE storefront = ANY ($1::text[])",
            [.textArray(storefronts)]
        ) {
            countries[try row.text("storefront")] = try row.text("country")
        }
        others = [
            "product_id": all.count - products.count, "storefront": stores.count - storefronts.count,
            "currency": money.count - currencies.count,
        ]
        daysFrom = CalendarDay(month: today.monthNumber - kept.months)
        guard let reporting else { return place }
        oldRates = try connection.run(.rateAges, ["apps": .textArray(apps), "reporting": .text(reporting)]).map { row in
            OldRate(
                month: try row.text("month"),
                currency: try row.text("currency"),
                day: try row.text("rate_day"),
                days: Int(try row.int64("days"))
            )
        }
        return place
    }
}
