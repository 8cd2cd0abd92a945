extension ReportSection {
    /// How many subscriptions there are, and how they come and go.
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
                isWide: true
            ),
        ]
    )
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
            FigureColumn("unknown", "Unknown", .count, of: "total"), FigureColumn("total", "All", .count),
        ],
        """
        SELECT product_id, coalesce(sum(subscriptions) FILTER (WHERE status = 'active'), 0) AS active,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'grace period'), 0) AS grace,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'billing retry'), 0) AS retry,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'expired'), 0) AS expired,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'revoked'), 0) AS revoked,
               coalesce(sum(subscriptions) FILTER (
                   WHERE status NOT IN ('active', 'grace period', 'billing retry', 'expired', 'revoked')), 0) AS unknown,
               sum(subscriptions) AS total
          FROM subscriptions_by_status WHERE app_id = $1
         GROUP BY product_id ORDER BY active DESC, sum(subscriptions) DESC, product_id
        """
    )
}
