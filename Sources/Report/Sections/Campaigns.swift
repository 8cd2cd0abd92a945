extension ReportSection {
    /// The outcomes of price changes and of a migration to Advanced Commerce.
    static let campaigns = ReportSection(
        id: "campaigns",
        title: "Advanced Commerce campaigns",
        cards: [
            ChartCard(
                title: "Price changes",
                remark: """
                    The last 20 cohorts whose prices were changed. A subscription is lost when it has not renewed, and its \
                    automatic renewal is off, its last period has ended, or it was revoked; the churn is its share.
                    """,
                chart: nil,
                tables: [(.priceChanges, "Cohorts: notified, accepted, renewed or lost")],
                nothing: "No price was changed.",
                isWide: true
            ),
            ChartCard(
                title: "What remains to be migrated",
                remark: """
                    Active subscriptions without Advanced Commerce, as the last crawl knows them, and why the last plan of a \
                    migration has not migrated them.
                    """,
                chart: nil,
                tables: [(.unmigratedSubscriptions, "Subscriptions that were not migrated, by product and reason")],
                nothing: "Nothing remains, or no migration was planned.",
                isWide: true
            ),
        ],
        isOptional: true
    )
}

extension ReportQuestion {
    static let priceChanges = ReportQuestion(
        "price-changes",
        on: ["price_changes_by_batch"],
        [
            FigureColumn("batch", "Batch", .text), FigureColumn("job", "Job", .text),
            FigureColumn("planned_at", "Planned, UTC", .moment), FigureColumn("started", "First sent, UTC", .moment),
            FigureColumn("planned", "Planned", .count), FigureColumn("sent", "Applied", .count, of: "planned"),
            FigureColumn("communicated", "Told", .count, of: "sent"),
            FigureColumn("accepted", "Accepted", .count, of: "sent"),
            FigureColumn("renewed", "Renewed", .count, of: "sent"), FigureColumn("lost", "Lost", .count, of: "sent"),
            FigureColumn("expired", "of these expired", .count, of: "sent"),
            FigureColumn("undecided", "Undecided", .count, of: "sent"), FigureColumn("churn", "Churn", .rate),
        ],
        PackageResources.price_changes_sql
    )

    static let unmigratedSubscriptions = ReportQuestion(
        "unmigrated-subscriptions",
        on: ["unmigrated_subscriptions_by_reason"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("reason", "Reason", .text),
            FigureColumn("cause", "Rule or Apple's code", .text),
            FigureColumn("subscriptions", "Subscriptions", .count),
            FigureColumn("will_renew", "Will renew", .count, of: "subscriptions"),
            FigureColumn("last_planned", "Last planned, UTC", .moment),
        ],
        PackageResources.unmigrated_subscriptions_sql
    )
}
