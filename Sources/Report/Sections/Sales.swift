extension ReportSection {
    /// Sales and refunds.
    static let sales = ReportSection(
        id: "sales",
        title: "Sales",
        cards: [
            ChartCard(
                title: "Sales and refunds",
                remark: """
                    By month, before Apple’s commission and tax; refunds in their own month. Apple does not report the refund of \
                    an upgrade, so net has the full price of both periods; the table estimates these refunds. Use Apple’s \
                    financial reports for accounting.
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
            ),
            ChartCard(
                title: "New and renewal revenue",
                remark: "By day of the last three months, before refunds. New is the first payment of a subscription.",
                chart: Chart(
                    form: .bars,
                    axis: "day",
                    series: [
                        Chart.Series(column: "new", tone: 0), Chart.Series(column: "renewal", tone: 2),
                        Chart.Series(column: "one_time", tone: 3),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "first payments, later payments and other purchases by day"
                ),
                tables: [(.revenueByDay, "Sales and refunds by day and currency")],
                nothing: "No purchases in the last three months."
            ),
            ChartCard(
                title: "All sales in one currency",
                remark: """
                    Estimated, at the rates of exchange_rates. Amounts in currencies without a rate are left out, but the table \
                    counts their purchases and names the currencies.
                    """,
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "net", tone: 6, isLine: true), Chart.Series(column: "gross", tone: 0),
                        Chart.Series(column: "refunded", tone: 1, isLoss: true),
                    ],
                    isSum: true,
                    followsCurrency: false,
                    words: "sales, refunds and what is left by month, converted"
                ),
                tables: [
                    (.revenueConverted, "Sales and refunds by month and reporting currency"),
                    (.proceedsConverted, "Estimated proceeds by month and reporting currency"),
                ],
                nothing: "There are no rates: the table exchange_rates is empty."
            ),
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
            FigureColumn("upgrade_refunds", "Refunds of upgrades, estimated, not in Net", .money),
        ],
        PackageResources.revenue_sql
    )

    static let revenueByDay = ReportQuestion(
        "revenue-by-day",
        on: ["revenue_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("currency", "Currency", .text),
            FigureColumn("new", "New", .money), FigureColumn("renewal", "Renewals", .money),
            FigureColumn("one_time", "Other purchases", .money), FigureColumn("refunded", "Refunded", .money),
            FigureColumn("net", "Net", .money),
        ],
        PackageResources.revenue_by_day_sql
    )

    static let revenueConverted = ReportQuestion(
        "revenue-converted",
        on: ["revenue_converted_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Reporting currency", .text),
            FigureColumn("purchases", "Purchases", .count), FigureColumn("gross", "Sales", .money),
            FigureColumn("refunded", "Refunded", .money), FigureColumn("net", "Net", .money),
            FigureColumn("without_rate", "Currencies without a rate", .text),
        ],
        PackageResources.revenue_converted_sql
    )

    static let proceedsConverted = ReportQuestion(
        "proceeds-converted",
        on: ["proceeds_converted_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Reporting currency", .text),
            FigureColumn("proceeds", "Proceeds", .money), FigureColumn("is_complete", "Complete", .text),
        ],
        PackageResources.proceeds_converted_sql
    )
}
