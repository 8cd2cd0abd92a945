import Ledger

/// One question of the report: its views and its SQL.
///
/// The SQL gets the app as `$1` and the job's name as `$2`. Rows with a date are sorted with the newest first.
struct ReportQuestion: Sendable {
    /// A unique name.
    ///
    /// It is the ID of the table on the page; with the prefix `chart-`, it is the ID of the chart.
    let name: String
    /// The views that the SQL reads, all in `sql/views`.
    let views: [String]
    let columns: [FigureColumn]
    let sql: String

    init(_ name: String, on views: [String], _ columns: [FigureColumn], _ sql: String) {
        self.name = name
        self.views = views
        self.columns = columns
        self.sql = sql
    }

    /// Every question of every section.
    static let all = ReportSection.all.flatMap(\.cards).flatMap(\.questions)

    /// The first of the last 24 months, for figures without a chart by month.
    static let sinceMonth = "(date_trunc('month', now()) - interval '24 months')::date"

    /// The first day of daily figures.
    ///
    /// It is a Monday, so that the first week is complete.
    static let sinceDay = "date_trunc('week', now() - interval '24 months')::date"

    /// ISO 8601; the session is in UTC.
    static func moment(_ expression: String) -> String {
        "to_char(\(expression), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }

    /// The apps whose rejected records count for the job, parameter 2.
    static let countsForJob = "app_id IN (\(Ledger.appsOfRejects(apps: "masked_apps", runs: "masked_runs")))"
}

/// A question is identified by its unique name.
extension ReportQuestion: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
