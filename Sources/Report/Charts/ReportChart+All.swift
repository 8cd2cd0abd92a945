extension ReportChart {
    /// The page from top to bottom, with the most frequent questions first.
    ///
    /// A new chart is a file in `Sources/Report/SQL` and a line here.
    static let files: [(id: String, file: [UInt8])] = [
        ("sales", PackageResources.sales_sql),
        ("revenue-kinds", PackageResources.revenue_kinds_sql),
        ("subscriptions-and-purchases", PackageResources.subscriptions_and_purchases_sql),
        ("sales-by-country", PackageResources.sales_by_country_sql),
        ("sales-by-product", PackageResources.sales_by_product_sql),
        ("proceeds", PackageResources.proceeds_sql),
        ("proceeds-rules", PackageResources.proceeds_rules_sql),
        ("mrr-movement", PackageResources.mrr_movement_sql),
        ("mrr", PackageResources.mrr_sql),
        ("mrr-by-product", PackageResources.mrr_by_product_sql),
        ("mrr-retention", PackageResources.mrr_retention_sql),
        ("quick-ratio", PackageResources.quick_ratio_sql),
        ("average-revenue", PackageResources.average_revenue_sql),
        ("mrr-at-risk", PackageResources.mrr_at_risk_sql),
        ("lifetime-value", PackageResources.lifetime_value_sql),
        ("active", PackageResources.active_sql),
        ("movement", PackageResources.movement_sql),
        ("new-customers", PackageResources.new_customers_sql),
        ("new-subscriptions", PackageResources.new_subscriptions_sql),
        ("movement-by-month", PackageResources.movement_by_month_sql),
        ("movement-by-product", PackageResources.movement_by_product_sql),
        ("movement-by-storefront", PackageResources.movement_by_storefront_sql),
        ("states", PackageResources.states_sql),
        ("trials", PackageResources.trials_sql),
        ("trial-conversion", PackageResources.trial_conversion_sql),
        ("redemptions", PackageResources.redemptions_sql),
        ("redemptions-by-offer", PackageResources.redemptions_by_offer_sql),
        ("offers-by-outcome", PackageResources.offers_by_outcome_sql),
        ("retention", PackageResources.retention_sql),
        ("renewals", PackageResources.renewals_sql),
        ("renewals-by-product", PackageResources.renewals_by_product_sql),
        ("churn", PackageResources.churn_sql),
        ("cancellations", PackageResources.cancellations_sql),
        ("refunds-by-month", PackageResources.refunds_by_month_sql),
        ("refunds-by-reason", PackageResources.refunds_by_reason_sql),
        ("refunds-by-product", PackageResources.refunds_by_product_sql),
        ("refunds-by-storefront", PackageResources.refunds_by_storefront_sql),
        ("refunded-money", PackageResources.refunded_money_sql),
        ("refund-requests", PackageResources.refund_requests_sql),
        ("upgrade-refunds", PackageResources.upgrade_refunds_sql),
        ("action-batches", PackageResources.action_batches_sql),
        ("mass-extensions", PackageResources.mass_extensions_sql),
        ("open-refund-requests", PackageResources.open_refund_requests_sql),
        ("price-changes", PackageResources.price_changes_sql),
        ("unmigrated-subscriptions", PackageResources.unmigrated_subscriptions_sql),
        ("deliveries", PackageResources.deliveries_sql),
        ("undelivered", PackageResources.undelivered_sql),
        ("completeness", PackageResources.completeness_sql),
        ("incomplete", PackageResources.incomplete_sql),
        ("runs", PackageResources.runs_sql),
        ("items", PackageResources.items_sql),
        ("rejected", PackageResources.rejected_sql),
        ("gaps", PackageResources.gaps_sql),
    ]

    static let all: [ReportChart] = files.map { id, file in
        do throws(BadChart) {
            return try ReportChart(id, file)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The charts whose file has a query.
    ///
    /// The others draw the figures of one of these.
    static let questions = all.filter { $0.source == $0.id }

    /// Every chart has a file; another name is an internal error.
    static func named(_ id: String) -> ReportChart {
        guard let chart = all.first(where: { $0.id == id }) else {
            preconditionFailure("the report has no chart \(id)")
        }
        return chart
    }

    /// The headings, in order.
    ///
    /// The ID is the anchor in the page.
    static let sections: [(id: String, title: String)] = [
        ("sales", "Sales"), ("recurring", "Recurring revenue"), ("subscriptions", "Subscriptions"),
        ("trials-and-offers", "Trials and offers"), ("retention-and-churn", "Retention and churn"),
        ("refunds", "Refunds"),
        ("actions", "Actions"), ("campaigns", "Advanced Commerce campaigns"), ("operations", "Operations"),
    ]
}
