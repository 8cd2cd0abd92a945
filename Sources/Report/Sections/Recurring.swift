extension ReportSection {
    /// Monthly recurring revenue and figures derived from it.
    static let recurring = ReportSection(
        id: "recurring",
        title: "Recurring revenue",
        cards: [
            ChartCard(
                title: "MRR and its movement",
                remark:
                    "Monthly recurring revenue at the end of each month, and what moved it. Gross; a yearly price counts a twelfth.",
                chart: Chart(
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
                nothing: "No paid subscriptions yet.",
                isWide: true
            ),
            ChartCard(
                title: "MRR retention",
                remark:
                    "Of the MRR at the beginning of a month, how much is left at its end: gross without expansion, net with it.",
                chart: Chart(
                    form: .lines,
                    axis: "month",
                    series: [
                        Chart.Series(column: "gross", tone: 0, isLine: true),
                        Chart.Series(column: "net", tone: 1, isLine: true),
                    ],
                    words: "gross and net MRR retention in percent by month"
                ),
                tables: [(.mrrRetention, "MRR retention by month and currency")],
                nothing: "No month began with paid subscriptions yet."
            ),
            ChartCard(
                title: "Quick ratio",
                remark:
                    "MRR gained over MRR lost in a month; above 1 MRR grows. There is none for a month in which nothing was lost.",
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [Chart.Series(column: "quick_ratio", tone: 3)],
                    words: "quick ratio by month"
                ),
                tables: [(.quickRatio, "MRR gained and lost by month and currency")],
                nothing: "No paid subscriptions yet."
            ),
            ChartCard(
                title: "Average revenue",
                remark: """
                    A month’s purchases, net of refunds, for each customer with a transaction in the month (ARPU) and for each \
                    who paid in it (ARPPU).
                    """,
                chart: Chart(
                    form: .lines,
                    axis: "month",
                    series: [
                        Chart.Series(column: "arpu", tone: 0, isLine: true),
                        Chart.Series(column: "arppu", tone: 1, isLine: true),
                    ],
                    words: "average revenue for each user and each paying user by month"
                ),
                tables: [(.averageRevenue, "Average revenue by month and currency")],
                nothing: "No purchases yet."
            ),
            ChartCard(
                title: "MRR at risk",
                remark: "MRR of the subscriptions that are active now, by the month in which their period ends.",
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "renewing", tone: 0), Chart.Series(column: "grace", tone: 4),
                        Chart.Series(column: "cancelled", tone: 1),
                    ],
                    hasShares: true,
                    isForecast: true,
                    words: "MRR that is expected to renew and MRR at risk by month of expiry"
                ),
                tables: [(.mrrAtRisk, "MRR by month of expiry and currency")],
                nothing: "No paid subscription is active."
            ),
            ChartCard(
                title: "All MRR in one currency",
                remark:
                    "Estimated, at the rates of exchange_rates; their changes change MRR, too. The table names what has no rate.",
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "closing", tone: 6, isLine: true), Chart.Series(column: "new", tone: 0),
                        Chart.Series(column: "reactivation", tone: 2), Chart.Series(column: "expansion", tone: 3),
                        Chart.Series(column: "contraction", tone: 4, isLoss: true),
                        Chart.Series(column: "churn", tone: 1, isLoss: true),
                    ],
                    followsCurrency: false,
                    words: "monthly recurring revenue and its movement by month, converted"
                ),
                tables: [(.mrrConverted, "MRR and its movement by month and reporting currency")],
                nothing: "There are no rates: the table exchange_rates is empty.",
                isWide: true
            ),
        ]
    )
}

extension ReportQuestion {
    static let mrrMovement = ReportQuestion(
        "mrr",
        on: ["mrr_movement_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("opening", "At its beginning", .money), FigureColumn("new", "New", .money),
            FigureColumn("reactivation", "Came back", .money), FigureColumn("expansion", "Expansion", .money),
            FigureColumn("switched_in", "From another currency", .money),
            FigureColumn("contraction", "Contraction", .money), FigureColumn("churn", "Churn", .money),
            FigureColumn("switched_out", "To another currency", .money),
            FigureColumn("closing", "MRR at its end", .money),
            FigureColumn("subscriptions", "Subscriptions at its end", .count),
        ],
        PackageResources.mrr_movement_sql
    )

    static let mrrRetention = ReportQuestion(
        "mrr-retention",
        on: ["mrr_retention_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("opening", "MRR at its beginning", .money), FigureColumn("gross", "Gross retention", .rate),
            FigureColumn("net", "Net retention", .rate),
        ],
        PackageResources.mrr_retention_sql
    )

    static let quickRatio = ReportQuestion(
        "quick-ratio",
        on: ["mrr_retention_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("quick_ratio", "Quick ratio", .ratio), FigureColumn("arpa", "MRR of a subscription", .money),
            FigureColumn("subscriptions", "Subscriptions at its end", .count),
        ],
        PackageResources.quick_ratio_sql
    )

    static let averageRevenue = ReportQuestion(
        "average-revenue",
        on: ["average_revenue_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("customers", "Customers", .count), FigureColumn("payers", "Who paid", .count, of: "customers"),
            FigureColumn("net", "Net", .money), FigureColumn("arpu", "ARPU", .money),
            FigureColumn("arppu", "ARPPU", .money),
        ],
        PackageResources.average_revenue_sql
    )

    static let mrrAtRisk = ReportQuestion(
        "mrr-at-risk",
        on: ["mrr_at_risk_by_month"],
        [
            FigureColumn("month", "Ends in", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("subscriptions", "Subscriptions", .count),
            FigureColumn("will_not_renew", "Renewal off", .count, of: "subscriptions"),
            FigureColumn("in_grace", "In grace period", .count, of: "subscriptions"),
            FigureColumn("renewing", "MRR expected to renew", .money),
            FigureColumn("grace", "MRR in grace period", .money),
            FigureColumn("cancelled", "MRR with renewal off", .money),
        ],
        PackageResources.mrr_at_risk_sql
    )

    static let mrrConverted = ReportQuestion(
        "mrr-converted",
        on: ["mrr_movement_converted_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Reporting currency", .text),
            FigureColumn("opening", "At its beginning", .money), FigureColumn("new", "New", .money),
            FigureColumn("reactivation", "Came back", .money), FigureColumn("expansion", "Expansion", .money),
            FigureColumn("contraction", "Contraction", .money), FigureColumn("churn", "Churn", .money),
            FigureColumn("closing", "MRR at its end", .money), FigureColumn("gross", "Gross retention", .rate),
            FigureColumn("net", "Net retention", .rate), FigureColumn("quick_ratio", "Quick ratio", .ratio),
            FigureColumn("without_rate", "Currencies without a rate", .text),
        ],
        PackageResources.mrr_converted_sql
    )
}
