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
        """
        SELECT v.day::text AS day, sum(active) AS active, sum(trials) AS trials
          FROM active_subscriptions_by_day v WHERE app_id = $1 AND v.day >= \(sinceDay)
         GROUP BY v.day ORDER BY v.day DESC
        """
    )

    static let movement = ReportQuestion(
        "movement",
        on: ["subscription_movement_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("new", "New", .count),
            FigureColumn("resubscribed", "Came back", .count), FigureColumn("expired", "Expired", .count),
            FigureColumn("churned", "Expired less came back", .count),
        ],
        """
        SELECT v.day::text AS day, sum(new) AS new, sum(resubscribed) AS resubscribed, sum(expired) AS expired,
               sum(churned) AS churned
          FROM subscription_movement_by_day v WHERE app_id = $1 AND v.day >= \(sinceDay)
         GROUP BY v.day HAVING sum(new) <> 0 OR sum(resubscribed) <> 0 OR sum(expired) <> 0 ORDER BY v.day DESC
        """
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
        """
        SELECT product_id, coalesce(sum(subscriptions) FILTER (WHERE status = 'active'), 0) AS active,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'grace period'), 0) AS grace,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'billing retry'), 0) AS retry,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'expired'), 0) AS expired,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'revoked'), 0) AS revoked,
               coalesce(sum(subscriptions) FILTER (
                   WHERE status NOT IN ('active', 'grace period', 'billing retry', 'expired', 'revoked')), 0) AS unknown,
               sum(reported_by_apple) AS reported, sum(subscriptions) AS total
          FROM subscriptions_by_status WHERE app_id = $1
         GROUP BY product_id ORDER BY active DESC, sum(subscriptions) DESC, product_id
        """
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
        """
        SELECT v.day::text AS day, sum(trial_conversions) AS after_trial, sum(introductory) AS introductory,
               sum(direct) AS direct, sum(direct_with_offer) AS with_offer, sum(new) AS new
          FROM new_subscriptions_by_day v WHERE app_id = $1 AND v.day >= \(sinceDay) GROUP BY v.day ORDER BY v.day DESC
        """
    )

    static let movementByMonth = ReportQuestion(
        "movement-by-month",
        on: ["subscription_movement_by_month"],
        [FigureColumn("month", "Month", .month)] + movementColumns,
        """
        SELECT to_char(month, 'YYYY-MM') AS month, \(movementSums)
          FROM subscription_movement_by_month v WHERE app_id = $1 GROUP BY v.month ORDER BY v.month DESC
        """
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

    private static let movementSums = """
        sum(opening) AS opening, sum(new) AS new, sum(resubscribed) AS resubscribed, sum(switched_in) AS switched_in,
        sum(expired) AS expired, sum(switched_out) AS switched_out, sum(closing) AS closing, sum(churned) AS churned
        """

    /// The last complete month by one column.
    private static func segment(_ name: String, _ column: FigureColumn) -> ReportQuestion {
        ReportQuestion(
            name,
            on: ["subscription_movement_by_month"],
            [column] + movementColumns,
            """
            SELECT \(column.name), \(movementSums) FROM subscription_movement_by_month
             WHERE app_id = $1 AND month = (date_trunc('month', now()) - interval '1 month')::date
             GROUP BY \(column.name) ORDER BY sum(opening) + sum(new) DESC, \(column.name)
            """
        )
    }
}
