extension ReportSection {
    static let revenue = ReportSection(
        title: "Sales and refunds",
        remark: "By month, before Apple’s commission and tax; refunds in their own month. The books are Apple’s.",
        chart: Chart(
            id: "revenue",
            form: .bars,
            axis: "month",
            series: [
                Chart.Series(column: "net", tone: 6, isLine: true), Chart.Series(column: "gross", tone: 0),
                Chart.Series(column: "refunded", tone: 1, isLoss: true),
            ],
            words: "sales, refunds and what is left by month"
        ),
        tables: [(.revenue, "Sales and refunds by month and currency")],
        nothing: "No purchases in the last 24 months.",
        isWide: true
    )

    static let recurring = ReportSection(
        title: "Recurring revenue",
        remark: "MRR at the end of each month, and what moved it. Gross; a yearly price counts a twelfth.",
        chart: Chart(
            id: "mrr",
            form: .bars,
            axis: "month",
            series: [
                Chart.Series(column: "closing", tone: 6, isLine: true), Chart.Series(column: "new", tone: 0),
                Chart.Series(column: "reactivation", tone: 2), Chart.Series(column: "expansion", tone: 3),
                Chart.Series(column: "contraction", tone: 4, isLoss: true),
                Chart.Series(column: "churn", tone: 1, isLoss: true),
            ],
            words: "monthly recurring revenue and its movement by month"
        ),
        tables: [(.mrrMovement, "MRR and its movement by month and currency")],
        nothing: "No paid subscriptions in the last 24 months.",
        isWide: true
    )

    static let active = ReportSection(
        title: "Active subscriptions",
        remark: "At the end of each day; Family Sharing is not counted.",
        chart: Chart(
            id: "active",
            form: .lines,
            axis: "day",
            series: [
                Chart.Series(column: "active", tone: 0, isLine: true),
                Chart.Series(column: "trials", tone: 1, isLine: true),
            ],
            words: "paid subscriptions and trials by day"
        ),
        tables: [(.activeSubscriptions, "Active subscriptions by day")],
        nothing: "No subscriptions in the last 13 months."
    )

    static let states = ReportSection(
        title: "Where subscriptions stand",
        remark: "By the product of the last period; the ten largest are drawn.",
        chart: Chart(
            id: "states",
            form: .rows,
            axis: "product_id",
            series: [
                Chart.Series(column: "active", tone: 0), Chart.Series(column: "grace", tone: 2),
                Chart.Series(column: "retry", tone: 1), Chart.Series(column: "expired", tone: 5),
                Chart.Series(column: "revoked", tone: 4),
            ],
            limit: 10,
            words: "subscriptions by product and state"
        ),
        tables: [(.subscriptionStates, "Subscriptions by product and state")],
        nothing: "No subscriptions yet."
    )

    static let products = refunds(
        "Refunds by product",
        .refundsByProduct,
        axis: "product_id",
        also: [(.refundedMoney, "Money refunded by product and currency")]
    )

    static let storefronts = refunds("Refunds by storefront", .refundsByStorefront, axis: "storefront", also: [])

    private static func refunds(
        _ title: String,
        _ question: ReportQuestion,
        axis: String,
        also: [(ReportQuestion, String)]
    ) -> ReportSection {
        ReportSection(
            title: title,
            remark: "Share of the purchases of the last 24 months. Young purchases may still be refunded, for 90 days.",
            chart: Chart(
                id: question.name,
                form: .rows,
                axis: axis,
                series: [Chart.Series(column: "rate", tone: 1)],
                limit: 10,
                note: (part: "refunded", whole: "purchases"),
                words: "refund rate in percent, those with the most refunds first"
            ),
            tables: [(question, title)] + also,
            nothing: "No purchases in the last 24 months."
        )
    }

    static let deliveries = ReportSection(
        title: "Notification delivery",
        remark: "How the app’s own server took Apple’s notifications in the last 30 days.",
        chart: Chart(
            id: "deliveries",
            form: .bars,
            axis: "day",
            series: [
                Chart.Series(column: "at_once", tone: 0), Chart.Series(column: "later", tone: 2),
                Chart.Series(column: "retrying", tone: 3), Chart.Series(column: "not_known_yet", tone: 4),
                Chart.Series(column: "never", tone: 1), Chart.Series(column: "unknown", tone: 5),
            ],
            words: "notifications by day and how their delivery went"
        ),
        tables: [
            (.deliveries, "Notifications by day of Apple’s signature"),
            (.undelivered, "Notifications that have not arrived"),
        ],
        nothing: "No notifications in the last 30 days."
    )

    static let runs = ReportSection(
        title: "Last runs",
        remark: "What each run of the job brought.",
        chart: Chart(
            id: "runs",
            form: .bars,
            axis: "run",
            series: [Chart.Series(column: "rows_new", tone: 0), Chart.Series(column: "rows_updated", tone: 2)],
            words: "new and updated rows by run"
        ),
        tables: [(.runs, "The job’s last runs; 0 is complete, 2 complete with losses, 75 stopped with work left")],
        nothing: "The job has never run."
    )

    static let failing = ReportSection(
        title: "Rejected, failing, missing",
        remark: "Of the job’s last run, and records that could not be loaded. storeledger status has the examples.",
        chart: nil,
        tables: [
            (.items, "What was asked for in the last run"), (.rejected, "Records rejected, by reason"),
            (.gaps, "Time that Apple no longer serves"),
        ],
        nothing: "Nothing is rejected or failing.",
        isWide: true
    )
}
