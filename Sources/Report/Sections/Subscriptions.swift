extension ReportSection {
    /// The number of subscriptions, and how it changes.
    static let subscriptions = ReportSection(
        id: "subscriptions",
        title: "Subscriptions",
        cards: [
            ChartCard(
                title: "Active subscriptions",
                remark: "At the end of each day of the last 24 months; Family Sharing is not counted.",
                chart: Chart(
                    form: .lines,
                    axis: "day",
                    series: [
                        Chart.Series(column: "active", tone: 0, isLine: true),
                        Chart.Series(column: "trials", tone: 1, isLine: true),
                    ],
                    words: "paid subscriptions and trials by day"
                ),
                tables: [(.activeSubscriptions, "Active subscriptions by day")],
                nothing: "No subscriptions in the last 24 months."
            ),
            ChartCard(
                title: "Movement of paid subscriptions",
                remark: """
                    By day of the last 24 months, in a long range by week. Every expiry counts, also of a subscription that comes \
                    back later.
                    """,
                chart: Chart(
                    form: .bars,
                    axis: "day",
                    series: [
                        Chart.Series(column: "new", tone: 0), Chart.Series(column: "resubscribed", tone: 2),
                        Chart.Series(column: "expired", tone: 1, isLoss: true),
                    ],
                    isSum: true,
                    words: "paid subscriptions that are new, came back or expired by day"
                ),
                tables: [(.movement, "Movement of paid subscriptions by day")],
                nothing: "No paid subscription began or ended in the last 24 months."
            ),
            ChartCard(
                title: "New paid subscriptions",
                remark: "By day of the first payment, in a long range by week, of the last 24 months.",
                chart: Chart(
                    form: .bars,
                    axis: "day",
                    series: [
                        Chart.Series(column: "after_trial", tone: 0), Chart.Series(column: "introductory", tone: 2),
                        Chart.Series(column: "direct", tone: 3),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "first payments after a trial, with an introductory offer and direct by day"
                ),
                tables: [(.newSubscriptions, "New paid subscriptions by day")],
                nothing: "No new paid subscription in the last 24 months."
            ),
            ChartCard(
                title: "Subscriptions by month",
                remark: """
                    Active paid subscriptions at the end of each month, and how many came and went in it. The churn of the table \
                    is RevenueCat’s: expiries less returns. It is usually lower than that of “Why subscriptions were lost”.
                    """,
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "closing", tone: 6, isLine: true), Chart.Series(column: "new", tone: 0),
                        Chart.Series(column: "resubscribed", tone: 2),
                        Chart.Series(column: "expired", tone: 1, isLoss: true),
                    ],
                    words: "active paid subscriptions and their movement by month"
                ),
                tables: [(.movementByMonth, "Paid subscriptions, their movement and churn by month")],
                nothing: "No paid subscriptions yet."
            ),
            segment("Movement by product", .movementByProduct, by: "product_id"),
            segment("Movement by storefront", .movementByStorefront, by: "storefront"),
            ChartCard(
                title: "States of subscriptions",
                remark: "By the product of the last period; the ten largest are drawn.",
                chart: Chart(
                    form: .rows,
                    axis: "product_id",
                    series: [
                        Chart.Series(column: "active", tone: 0), Chart.Series(column: "grace", tone: 2),
                        Chart.Series(column: "retry", tone: 1), Chart.Series(column: "expired", tone: 5),
                        Chart.Series(column: "revoked", tone: 4),
                    ],
                    limit: 10,
                    hasShares: true,
                    words: "subscriptions by product and state"
                ),
                tables: [(.subscriptionStates, "Subscriptions by product and state")],
                nothing: "No subscriptions yet.",
                isWide: true,
                note: reportedStates
            ),
        ]
    )

    /// From where the states are known, if Apple's own statuses are among them.
    @Sendable private static func reportedStates(_ states: FigureTable) -> String? {
        let total = states.numbers("total").reduce(0, +)
        let reported = states.numbers("reported").reduce(0, +)
        guard reported > 0 else { return nil }
        return """
            \(FigureText.words(String(reported), .count)) of \(FigureText.words(String(total), .count)) states are the status that \
            Apple answered (Get All Subscription Statuses, not signed); the others follow from signed records.
            """
    }

    private static func segment(_ title: String, _ question: ReportQuestion, by axis: String) -> ChartCard {
        ChartCard(
            title: title,
            remark: "Paid subscriptions that came and went in the last month that is over; the ten largest are drawn.",
            chart: Chart(
                form: .rows,
                axis: axis,
                series: [
                    Chart.Series(column: "new", tone: 0), Chart.Series(column: "resubscribed", tone: 2),
                    Chart.Series(column: "expired", tone: 1, isLoss: true),
                ],
                limit: 10,
                words: "paid subscriptions that are new, came back or expired, those with the most subscriptions first"
            ),
            tables: [(question, title + ", actives and churn")],
            nothing: "No paid subscriptions in the last month that is over."
        )
    }
}

extension ReportQuestion {
    static let activeSubscriptions = ReportQuestion(
        "active",
        on: ["active_subscriptions_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("active", "Paid", .count),
            FigureColumn("trials", "Trials", .count),
        ],
        PackageResources.active_subscriptions_sql
    )

    static let movement = ReportQuestion(
        "movement",
        on: ["subscription_movement_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("new", "New", .count),
            FigureColumn("resubscribed", "Came back", .count), FigureColumn("expired", "Expired", .count),
            FigureColumn("churned", "Expired less came back", .count),
        ],
        PackageResources.movement_sql
    )

    static let subscriptionStates = ReportQuestion(
        "states",
        on: ["subscriptions_by_status"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("active", "Active", .count, of: "total"),
            FigureColumn("grace", "Grace period", .count, of: "total"),
            FigureColumn("retry", "Billing retry", .count, of: "total"),
            FigureColumn("expired", "Expired", .count, of: "total"),
            FigureColumn("revoked", "Revoked", .count, of: "total"),
            FigureColumn("unknown", "Unknown", .count, of: "total"),
            FigureColumn("reported", "Apple's status", .count, of: "total"), FigureColumn("total", "All", .count),
        ],
        PackageResources.subscription_states_sql
    )

    static let newSubscriptions = ReportQuestion(
        "new-subscriptions",
        on: ["new_subscriptions_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("after_trial", "After a trial", .count, of: "new"),
            FigureColumn("introductory", "Introductory offer", .count, of: "new"),
            FigureColumn("direct", "Direct", .count, of: "new"),
            FigureColumn("with_offer", "Direct with another offer", .count, of: "direct"),
            FigureColumn("new", "All", .count),
        ],
        PackageResources.new_subscriptions_sql
    )

    static let movementByMonth = ReportQuestion(
        "movement-by-month",
        on: ["subscription_movement_by_month"],
        [FigureColumn("month", "Month", .month)] + movementColumns,
        PackageResources.movement_by_month_sql
    )

    static let movementByProduct = segment("movement-by-product", FigureColumn("product_id", "Product", .text))

    static let movementByStorefront = segment("movement-by-storefront", FigureColumn("storefront", "Storefront", .text))

    private static let movementColumns = [
        FigureColumn("opening", "At the beginning", .count), FigureColumn("new", "New", .count),
        FigureColumn("resubscribed", "Came back", .count), FigureColumn("switched_in", "Changed to it", .count),
        FigureColumn("expired", "Expired", .count, of: "opening"),
        FigureColumn("switched_out", "Changed from it", .count),
        FigureColumn("closing", "At the end", .count),
        FigureColumn("churned", "Expired less came back", .count, of: "opening"),
    ]

    /// The last complete month by one column.
    private static func segment(_ name: String, _ column: FigureColumn) -> ReportQuestion {
        ReportQuestion(
            name,
            on: ["subscription_movement_by_month"],
            [column] + movementColumns,
            PackageResources.movement_by_segment_sql,
            segment: column.name
        )
    }
}
