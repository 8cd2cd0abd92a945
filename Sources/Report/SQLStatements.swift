import Ledger
import Postgres
import Status

/// The statements in `Sources/Report/SQL`: one file for each chart, and their frames and parts.
extension SQLStatement {
    static let reportingCurrency = SQLStatement(file: PackageResources.reporting_currency_sql)
    static let cells = SQLStatement(file: PackageResources.cells_sql)
    static let segments = SQLStatement(file: PackageResources.segments_sql)
    static let rateAges = SQLStatement(file: PackageResources.rate_ages_sql)

    /// The statement of a chart.
    ///
    /// - Parameters:
    ///   - chart: One of ``ReportChart/questions``.
    ///   - hasApps: Whether figures of several apps are kept apart.
    ///   - hasRates: Whether amounts are converted.
    static func figures(_ chart: ReportChart, hasApps: Bool, hasRates: Bool) -> SQLStatement {
        var own = ["question": chart.question]
        guard !chart.isPlain else {
            return SQLStatement(file: PackageResources.asked_sql, parts: parts.merging(own) { $1 })
        }
        let converts = hasRates && chart.isConvertible
        let names = chart.names(hasApps: hasApps), segments = names.filter(ReportChart.segments.contains)
        let groups = names.map { $0 == "day" ? ReportChart.period : $0 }
        let first = segments.map { "\(ReportChart.place(of: $0)) AS \($0)" } + names.filter { !segments.contains($0) }
        let paid = segments.contains("currency") ? "raw.currency AS paid_in" : "NULL::text AS paid_in"
        let firsts = first + [paid] + (converts ? ["\(chart.rateDay) AS rate_day"] : [])
        own["firsts"] = text((firsts + chart.measures.map { "sum(\($0.name)) AS \($0.name)" }).joined(separator: ", "))
        own["first_groups"] = text((1...firsts.count).map(String.init).joined(separator: ", "))
        own["places"] = text(segments.filter { $0 != "app_id" }.map(ReportChart.joinedPlace).joined())
        own["names"] = text(zip(names, groups).map { "(\($1))::text AS \($0), " }.joined())
        own["groups"] = text(groups.isEmpty ? "()" : groups.joined(separator: ", "))
        own["order"] = text(groups.isEmpty ? "" : "ORDER BY " + groups.joined(separator: ", "))
        own["sums"] = text(
            (chart.measures.map { chart.sum($0, converts: converts) } + chart.lacks(converts)).joined(separator: ", ")
        )
        own["rate_day"] = text(chart.rateDay)
        own["rates"] = converts ? PackageResources.cube_rates_sql : []
        own["joined"] = text(converts ? "LEFT JOIN rate ON rated = paid_in AND rated_on = rate_day" : "")
        return SQLStatement(file: PackageResources.cube_sql, parts: parts.merging(own) { $1 })
    }

    private static func text(_ sql: String) -> [UInt8] { Array(sql.utf8) }

    private static let parts: [String: [UInt8]] = [
        // Its parameters have the numbers that `asked.sql` gives them.
        "apps_of_rejects": Array(Ledger.appsOfRejects(apps: "masked_apps", runs: "masked_runs").utf8),
        "since_month": PackageResources.since_month_sql,
    ]
}

extension ReportChart {
    /// The columns that name a row of the answer: segments, then keys, then the time.
    func names(hasApps: Bool) -> [String] {
        (hasApps ? ["app_id"] : []) + segments + keys.map(\.name) + (time.map { [$0.name] } ?? [])
    }

    /// The columns of the answer, in order.
    ///
    /// An amount is followed by its converted one, in millionths. At the end is what has no rate.
    func answer(hasApps: Bool) -> [String] {
        names(hasApps: hasApps)
            + measures.flatMap { $0.kind == .money ? [$0.name, $0.name + "_converted"] : [$0.name] }
            + (isConvertible ? measures.map(\.lack) + ["unrated"] : [])
    }

    /// A day, or the first one of its month.
    fileprivate static let period =
        "CASE WHEN day >= :days_from::text::date THEN day ELSE date_trunc('month', day::timestamp)::date END"

    /// The place of a name: 0 is one of the others, and -1 one that Apple did not name.
    fileprivate static func place(of segment: String) -> String {
        segment == "app_id"
            ? "array_position(:apps::text[], app_id::text)"
            : "coalesce(place_of_\(segment).place, CASE WHEN raw.\(segment) IS NULL THEN -1 ELSE 0 END)"
    }

    /// Joins the places of a segment's names.
    fileprivate static func joinedPlace(of segment: String) -> String {
        let names = segment == "currency" ? "currencies" : segment == "storefront" ? "storefronts" : "products"
        return """
            \n          LEFT JOIN unnest(:\(names)::text[]) WITH ORDINALITY place_of_\(segment) (name, place)
                   ON place_of_\(segment).name = raw.\(segment)
            """
    }

    fileprivate func sum(_ measure: FigureColumn, converts: Bool) -> String {
        let name = measure.name
        guard measure.kind == .money else { return "sum(\(name))::bigint AS \(name)" }
        guard !isConverted else {
            return "NULL::bigint AS \(name), round(sum(\(name)) * 1000)::bigint AS \(name)_converted"
        }
        // Amounts of several currencies have no sum.
        let own =
            segments.contains("currency")
            ? "CASE WHEN bool_and(currency > 0) THEN sum(\(name)) END::bigint AS \(name)"
            : "NULL::bigint AS \(name)"
        return own + ", " + (converts ? "round(sum(\(name) * rate) * 1000)" : "NULL") + "::bigint AS \(name)_converted"
    }

    /// What has no rate: counts, amounts in their own currency, and how many sums of a day and currency it is.
    fileprivate func lacks(_ converts: Bool) -> [String] {
        guard isConvertible else { return [] }
        guard converts else { return (measures.map(\.lack) + ["unrated"]).map { "NULL::bigint AS \($0)" } }
        let amounts = measures.filter { $0.kind == .money }.map { "\($0.name) <> 0" }.joined(separator: " OR ")
        return measures.map { measure in
            let sum = "sum(\(measure.name)) FILTER (WHERE rate IS NULL)"
            let named = measure.kind == .money ? "CASE WHEN bool_and(currency > 0) THEN \(sum) END" : "(\(sum))"
            return "\(named)::bigint AS \(measure.lack)"
        } + ["count(*) FILTER (WHERE rate IS NULL AND (\(amounts))) AS unrated"]
    }

    /// The day whose rate converts an amount; the last one of a month.
    fileprivate var rateDay: String {
        switch time?.kind {
        case .day: "day"
        case .month: "(month + interval '1 month')::date - 1"
        default: "rate_day"
        }
    }
}
