extension ReportSection {
    /// What was sold, and what was given back.
    static let sales = ReportSection(
        id: "sales",
        title: "Sales",
        cards: [
            ChartCard(
                title: "Sales and refunds",
                remark: """
                    By month, before Apple’s commission and tax; refunds in their own month. Use Apple’s financial reports for \
                    accounting.
                    """,
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "net", tone: 6, isLine: true), Chart.Series(column: "gross", tone: 0),
                        Chart.Series(column: "refunded", tone: 1, isLoss: true),
                    ],
                    isSum: true,
                    words: "sales, refunds and what is left by month"
                ),
                tables: [(.revenue, "Sales and refunds by month and currency")],
                nothing: "No purchases yet.",
                isWide: true
            )
        ]
    )
}

extension ReportQuestion {
    static let revenue = ReportQuestion(
        "revenue",
        on: ["revenue_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("purchases", "Purchases", .count), FigureColumn("gross", "Sales", .money),
            FigureColumn("refunds", "Refunds", .count), FigureColumn("refunded", "Refunded", .money),
            FigureColumn("net", "Net", .money),
        ],
        """
        SELECT to_char(month, 'YYYY-MM') AS month, currency, sum(purchases) AS purchases, sum(gross_milliunits) AS gross,
               sum(refunds) AS refunds, sum(refunded_milliunits) AS refunded, sum(net_milliunits) AS net
          FROM revenue_by_month v WHERE app_id = $1 GROUP BY v.month, currency ORDER BY v.month DESC, currency
        """
    )
}
