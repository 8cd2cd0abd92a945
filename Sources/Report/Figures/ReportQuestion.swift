import Ledger
import Postgres

/// One question of the report: its views and its SQL.
///
/// Rows with a date are sorted with the newest first.
struct ReportQuestion: Sendable {
    /// A unique name.
    ///
    /// It is the ID of the table on the page; with the prefix `chart-`, it is the ID of the chart.
    let name: String
    /// The views that the SQL reads, all in `sql/views`.
    let views: [String]
    let columns: [FigureColumn]
    /// Its parameters are the app and the name of the job.
    let statement: SQLStatement

    /// - Parameters:
    ///   - name: A unique name.
    ///   - views: The views that the SQL reads.
    ///   - columns: The columns of the answer.
    ///   - file: The SQL.
    ///   - segment: The column for which `:segment` stands in the SQL.
    init(_ name: String, on views: [String], _ columns: [FigureColumn], _ file: [UInt8], segment: String = "") {
        self.name = name
        self.views = views
        self.columns = columns
        statement = .question(file, segment: segment)
    }

    /// Every question of every section.
    static let all = ReportSection.all.flatMap(\.cards).flatMap(\.questions)

    /// ISO 8601; the session is in UTC.
    static func moment(_ expression: String) -> String {
        "to_char(\(expression), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }
}

/// A question is identified by its unique name.
extension ReportQuestion: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
