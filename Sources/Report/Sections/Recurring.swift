extension ReportSection {
    /// Monthly recurring revenue and what follows from it.
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
            )
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
        """
        SELECT to_char(month, 'YYYY-MM') AS month, currency, opening_milliunits AS opening, new_milliunits AS new,
               reactivation_milliunits AS reactivation, expansion_milliunits AS expansion,
               switched_in_milliunits AS switched_in, contraction_milliunits AS contraction, churn_milliunits AS churn,
               switched_out_milliunits AS switched_out, closing_milliunits AS closing,
               closing_subscriptions AS subscriptions
          FROM mrr_movement_by_month v WHERE app_id = $1 ORDER BY v.month DESC, currency
        """
    )
}
