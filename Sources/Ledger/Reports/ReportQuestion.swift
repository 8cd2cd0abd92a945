/// One query of the report, and the views that it reads.
///
/// In the SQL, `$1` is the app and `$2` the job's name. Rows with a date are sorted newest first.
package struct ReportQuestion: Sendable {
    package let name: String
    /// The views that the query reads, all of `sql/views`.
    let views: [String]
    package let columns: [FigureColumn]
    let sql: String

    init(_ name: String, on views: [String], _ columns: [FigureColumn], _ sql: String) {
        self.name = name
        self.views = views
        self.columns = columns
        self.sql = sql
    }

    /// All queries, in any order.
    package static let all = [
        revenue, mrrMovement, activeSubscriptions, subscriptionStates, retention, refundsByProduct, refundsByStorefront,
        refundedMoney, deliveries, undelivered, runs, rejected, items, gaps,
    ]

    /// The first month of the report.
    static let sinceMonth = "(date_trunc('month', now()) - interval '24 months')::date"

    /// ISO 8601; the session is in UTC.
    static func moment(_ expression: String) -> String {
        "to_char(\(expression), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }

    /// The app in all environments, because `appStore.sandboxFallback` stores records under the sandbox.
    static let anyEnvironment = """
        app_id IN (SELECT other.app_id FROM masked_apps own JOIN masked_apps other USING (bundle_id) WHERE own.app_id = $1)
        """
}
