extension ReportSection {
    /// Which purchases are refunded.
    static let refunds = ReportSection(
        id: "refunds",
        title: "Refunds",
        cards: [
            ChartCard(
                title: "Refund rate",
                remark: """
                    By the month of the purchase, not of the refund. Apple can refund a purchase for 90 days, so the \
                    rates of the last three months can still rise.
                    """,
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [Chart.Series(column: "rate", tone: 1)],
                    words: "refund rate in percent by month of purchase"
                ),
                tables: [(.refundsByMonth, "Refunded purchases by month of purchase")],
                nothing: "No purchases yet."
            ),
            ChartCard(
                title: "Refund requests",
                remark: "Requests for consumption information by month, and what Apple decided.",
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "refunded", tone: 1), Chart.Series(column: "declined", tone: 0),
                        Chart.Series(column: "reversed", tone: 3), Chart.Series(column: "pending", tone: 5),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "refund requests by month and outcome"
                ),
                tables: [(.refundRequests, "Refund requests by month and outcome")],
                nothing: "No refund request is known."
            ),
            shareCard(
                "Refunds by product",
                .refundsByProduct,
                by: "product_id",
                also: [(.refundedMoney, "Money refunded by product and currency")]
            ),
            shareCard("Refunds by storefront", .refundsByStorefront, by: "storefront", also: []),
        ]
    )

    private static func shareCard(
        _ title: String,
        _ question: ReportQuestion,
        by axis: String,
        also: [(ReportQuestion, String)]
    ) -> ChartCard {
        ChartCard(
            title: title,
            remark: "Refunded share of the purchases of the last 24 months; the ten with the most refunds are drawn.",
            chart: Chart(
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
}

extension ReportQuestion {
    static let refundsByMonth = refunds(
        "refunds-by-month",
        FigureColumn("month", "Month", .month),
        PackageResources.refunds_by_month_sql
    )

    static let refundsByProduct = refunds(
        "refunds-by-product",
        FigureColumn("product_id", "Product", .text),
        PackageResources.refunds_by_segment_sql
    )

    static let refundsByStorefront = refunds(
        "refunds-by-storefront",
        FigureColumn("storefront", "Storefront", .text),
        PackageResources.refunds_by_segment_sql
    )

    static let refundedMoney = ReportQuestion(
        "refunded-money",
        on: ["refund_rate_by_month"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("currency", "Currency", .text),
            FigureColumn("gross", "Sales", .money), FigureColumn("refunded", "Of which refunded", .money),
        ],
        PackageResources.refunded_money_sql
    )

    private static func refunds(_ name: String, _ first: FigureColumn, _ file: [UInt8]) -> ReportQuestion {
        ReportQuestion(
            name,
            on: ["refund_rate_by_month"],
            [
                first, FigureColumn("purchases", "Purchases", .count),
                FigureColumn("refunded", "Of which refunded", .count),
                FigureColumn("rate", "Refund rate", .rate),
                FigureColumn("issues", "For an issue with the app", .count, of: "refunded"),
            ],
            file,
            segment: first.name
        )
    }

    static let refundRequests = ReportQuestion(
        "refund-requests",
        on: ["refund_requests_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("refunded", "Refunded", .count, of: "requests"),
            FigureColumn("declined", "Declined", .count, of: "requests"),
            FigureColumn("reversed", "Reversed", .count, of: "requests"),
            FigureColumn("pending", "No decision known", .count, of: "requests"),
            FigureColumn("requests", "All", .count),
            FigureColumn("refunded_without_request", "Refunded without a request", .count),
            FigureColumn("declined_without_request", "Declined without a request", .count),
        ],
        PackageResources.refund_requests_sql
    )
}
