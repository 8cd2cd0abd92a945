extension ReportSection {
    /// Free trials and other offers.
    static let trials = ReportSection(
        id: "trials-and-offers",
        title: "Trials and offers",
        cards: [
            ChartCard(
                title: "Trials and their outcome",
                remark: "By the day on which the trial began, in a long range by week, of the last 24 months.",
                chart: Chart(
                    form: .bars,
                    axis: "day",
                    series: [
                        Chart.Series(column: "converted", tone: 0), Chart.Series(column: "running", tone: 2),
                        Chart.Series(column: "lost", tone: 1),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "free trials by day of their beginning and their outcome so far"
                ),
                tables: [(.trialsByDay, "Free trials by day of their beginning")],
                nothing: "No free trial in the last 24 months."
            ),
            ChartCard(
                title: "Redeemed offers",
                remark:
                    "By the month in which the offer began. Every redemption counts, also a second one of a subscription.",
                chart: Chart(
                    form: .bars,
                    axis: "month",
                    series: [
                        Chart.Series(column: "trial", tone: 0), Chart.Series(column: "introductory", tone: 2),
                        Chart.Series(column: "promotional", tone: 3), Chart.Series(column: "code", tone: 4),
                        Chart.Series(column: "win_back", tone: 1), Chart.Series(column: "other", tone: 5),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "redemptions of offers by month and kind"
                ),
                tables: [
                    (.redemptions, "Redemptions by month and kind of offer"),
                    (.redemptionsByOffer, "Redemptions of the last 24 months by offer"),
                ],
                nothing: "No offer was redeemed yet."
            ),
        ]
    )
}

extension ReportQuestion {
    static let redemptions = ReportQuestion(
        "redemptions",
        on: ["offer_redemptions_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("trial", "Free trial", .count, of: "total"),
            FigureColumn("introductory", "Introductory", .count, of: "total"),
            FigureColumn("promotional", "Promotional", .count, of: "total"),
            FigureColumn("code", "Offer code", .count, of: "total"),
            FigureColumn("win_back", "Win-back", .count, of: "total"),
            FigureColumn("other", "Other", .count, of: "total"),
            FigureColumn("total", "All", .count),
        ],
        PackageResources.redemptions_sql
    )

    static let redemptionsByOffer = ReportQuestion(
        "redemptions-by-offer",
        on: ["offer_redemptions_by_month"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("offer", "Kind", .text),
            FigureColumn("offer_identifier", "Offer", .text), FigureColumn("redemptions", "Redemptions", .count),
        ],
        PackageResources.redemptions_by_offer_sql
    )

    static let trialsByDay = ReportQuestion(
        "trials",
        on: ["trials_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("converted", "Paid", .count, of: "started"),
            FigureColumn("running", "Running", .count, of: "started"),
            FigureColumn("will_not_renew", "Running, renewal off", .count, of: "running"),
            FigureColumn("lost", "Ended without a payment", .count, of: "started"),
            FigureColumn("started", "All", .count),
        ],
        PackageResources.trials_by_day_sql
    )
}
