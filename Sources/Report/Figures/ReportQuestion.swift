/// One question of the report: which views answer it, and how.
///
/// The SQL gets the app as `$1` and the job's name as `$2`. What has a date comes with the newest first.
struct ReportQuestion: Sendable {
    let name: String
    /// The views it stands on, all of them `sql/views`.
    let views: [String]
    let columns: [FigureColumn]
    let sql: String

    init(_ name: String, on views: [String], _ columns: [FigureColumn], _ sql: String) {
        self.name = name
        self.views = views
        self.columns = columns
        self.sql = sql
    }

    /// Every one, in no order that matters.
    static let all = [
        revenue, mrrMovement, activeSubscriptions, subscriptionStates, retention, refundsByProduct, refundsByStorefront,
        refundedMoney, deliveries, undelivered, runs, rejected, items, gaps,
    ]

    /// How far back months go.
    static let sinceMonth = "(date_trunc('month', now()) - interval '24 months')::date"

    /// ISO 8601; the session is in UTC.
    static func moment(_ expression: String) -> String {
        "to_char(\(expression), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }

    /// The app and its sandbox twin, where `appStore.sandboxFallback` files what it finds.
    static let anyEnvironment = """
        app_id IN (SELECT other.app_id FROM masked_apps own JOIN masked_apps other USING (bundle_id) WHERE own.app_id = $1)
        """
}
