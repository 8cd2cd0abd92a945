extension ReportSection {
    /// How many subscribers stay or leave, and why.
    static let retention = ReportSection(
        id: "retention-and-churn",
        title: "Retention and churn",
        cards: [
            CohortCard(
                title: "Retention by month",
                remark:
                    "Of the subscriptions first paid for in a month without an introductory offer, how many were active at the end of each later month.",
                question: .cohorts,
                nothing: "No month of paid subscriptions is over yet."
            ),
            ChartCard(
                title: "Retention by renewal",
                remark:
                    "Of the subscriptions paid for the n-th time whose period is over, how many were paid for again.",
                chart: Chart(
                    form: .bars,
                    axis: "payment",
                    series: [Chart.Series(column: "rate", tone: 0)],
                    limit: 24,
                    words: "share of subscriptions that were paid for again, in percent by number of the payment"
                ),
                tables: [
                    (.renewals, "Renewal by number of the payment"),
                    (.renewalsByProduct, "Renewal by product and number of the payment"),
                ],
                nothing: "No paid period is over yet."
            ),
            ChartCard(
                title: "Why subscriptions were lost",
                remark: """
                    Active at the end of a month, no longer at the end of the next. Apple tells the reason for 180 days. This \
                    churn is usually higher than that of “Subscriptions by month”, which counts expiries less returns.
                    """,
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "voluntary", tone: 1), Chart.Series(column: "billing", tone: 0),
                        Chart.Series(column: "price", tone: 3), Chart.Series(column: "refund", tone: 4),
                        Chart.Series(column: "other", tone: 2), Chart.Series(column: "unknown", tone: 5),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "lost subscriptions by month and reason"
                ),
                tables: [(.churn, "Lost subscriptions by month and reason")],
                nothing: "No subscription was lost yet."
            ),
            ChartCard(
                title: "Renewal switched off and on",
                remark:
                    "By day of the notification, in a long range by week, of the last 24 months. Each change counts.",
                chart: Chart(
                    form: .bars,
                    axis: "day",
                    series: [
                        Chart.Series(column: "cancelled", tone: 1), Chart.Series(column: "cancelled_trials", tone: 4),
                        Chart.Series(column: "resumed", tone: 0, isLoss: true),
                    ],
                    isSum: true,
                    words: "renewal switched off, and on again below the axis, by day"
                ),
                tables: [(.cancellations, "Renewal switched off and on by day")],
                nothing: "No notification of the last 24 months says that renewal was switched off.",
                isWide: true
            ),
        ]
    )
}

extension ReportQuestion {
    /// All products together, with one row for each cohort and later month.
    static let cohorts = ReportQuestion(
        "retention",
        on: ["retention_cohorts"],
        [
            FigureColumn("cohort", "First paid in", .month), FigureColumn("month_number", "Months later", .count),
            FigureColumn("subscriptions", "Subscriptions", .count), FigureColumn("retained", "Retained", .count),
            FigureColumn("rate", "Retention", .rate),
        ],
        PackageResources.cohorts_sql
    )

    static let renewals = ReportQuestion(
        "renewals",
        on: ["retention_by_renewal"],
        [
            FigureColumn("payment", "Payment", .text), FigureColumn("subscriptions", "Subscriptions", .count),
            FigureColumn("due", "Due", .count), FigureColumn("renewed", "Paid again", .count),
            FigureColumn("rate", "Retention", .rate),
        ],
        PackageResources.renewals_sql
    )

    static let renewalsByProduct = ReportQuestion(
        "renewals-by-product",
        on: ["retention_by_renewal"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("payment", "Payment", .text),
            FigureColumn("due", "Due", .count), FigureColumn("renewed", "Paid again", .count),
            FigureColumn("rate", "Retention", .rate),
        ],
        PackageResources.renewals_by_product_sql
    )

    static let churn = ReportQuestion(
        "churn",
        on: ["renewals_and_churn_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("voluntary", "Cancelled", .count, of: "churned"),
            FigureColumn("billing", "Billing", .count, of: "churned"),
            FigureColumn("price", "Price", .count, of: "churned"),
            FigureColumn("refund", "Refund", .count, of: "churned"),
            FigureColumn("other", "Other", .count, of: "churned"),
            FigureColumn("unknown", "Unknown", .count, of: "churned"),
            FigureColumn("churned", "All", .count, of: "active"),
            FigureColumn("active", "Active at its beginning", .count),
        ],
        PackageResources.churn_sql
    )

    static let cancellations = ReportQuestion(
        "cancellations",
        on: ["cancellations_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("cancelled", "Off, paid", .count, of: "all_cancelled"),
            FigureColumn("cancelled_trials", "Off, trial", .count, of: "all_cancelled"),
            FigureColumn("all_cancelled", "Off", .count), FigureColumn("resumed", "On again", .count),
        ],
        PackageResources.cancellations_sql
    )
}
