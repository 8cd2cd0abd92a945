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
          FROM active_subscriptions_by_day v
         WHERE app_id = $1 AND v.day > (now() - interval '13 months')::date
         GROUP BY v.day ORDER BY v.day DESC
        """
    )

    static let subscriptionStates = ReportQuestion(
        "states",
        on: ["subscriptions_by_status"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("active", "Active", .count),
            FigureColumn("grace", "Grace period", .count), FigureColumn("retry", "Billing retry", .count),
            FigureColumn("expired", "Expired", .count), FigureColumn("revoked", "Revoked", .count),
            FigureColumn("unknown", "Unknown", .count),
        ],
        """
        SELECT product_id, coalesce(sum(subscriptions) FILTER (WHERE status = 'active'), 0) AS active,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'grace period'), 0) AS grace,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'billing retry'), 0) AS retry,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'expired'), 0) AS expired,
               coalesce(sum(subscriptions) FILTER (WHERE status = 'revoked'), 0) AS revoked,
               coalesce(sum(subscriptions) FILTER (
                   WHERE status NOT IN ('active', 'grace period', 'billing retry', 'expired', 'revoked')), 0) AS unknown
          FROM subscriptions_by_status WHERE app_id = $1
         GROUP BY product_id ORDER BY active DESC, sum(subscriptions) DESC, product_id
        """
    )

    /// All products together; one row for each cohort and month after it.
    static let retention = ReportQuestion(
        "retention",
        on: ["retention_cohorts"],
        [
            FigureColumn("cohort", "First paid in", .month), FigureColumn("month_number", "Months later", .count),
            FigureColumn("subscriptions", "Subscriptions", .count), FigureColumn("retained", "Retained", .count),
            FigureColumn("rate", "Retention", .rate),
        ],
        """
        SELECT to_char(cohort_month, 'YYYY-MM') AS cohort, month_number, sum(subscriptions) AS subscriptions,
               sum(retained) AS retained, round(sum(retained) / sum(subscriptions), 4) AS rate
          FROM retention_cohorts WHERE app_id = $1 AND cohort_month >= \(sinceMonth)
         GROUP BY cohort_month, month_number ORDER BY cohort_month DESC, month_number
        """
    )
}
