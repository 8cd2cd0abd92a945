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
          FROM revenue_by_month v WHERE app_id = $1 AND v.month >= \(sinceMonth)
         GROUP BY v.month, currency ORDER BY v.month DESC, currency
        """
    )

    static let mrrMovement = ReportQuestion(
        "mrr",
        on: ["mrr_movement_by_month"],
        [
            FigureColumn("month", "Month", .month), FigureColumn("currency", "Currency", .text),
            FigureColumn("opening", "At its beginning", .money), FigureColumn("new", "New", .money),
            FigureColumn("reactivation", "Came back", .money), FigureColumn("expansion", "Expansion", .money),
            FigureColumn("switched_in", "From another currency", .money),
            FigureColumn("contraction", "Contraction", .money), FigureColumn("churn", "Churn", .money),
            FigureColumn("switched_out", "To another currency", .money), FigureColumn("closing", "At its end", .money),
            FigureColumn("subscriptions", "Subscriptions at its end", .count),
        ],
        """
        SELECT to_char(month, 'YYYY-MM') AS month, currency, opening_milliunits AS opening, new_milliunits AS new,
               reactivation_milliunits AS reactivation, expansion_milliunits AS expansion,
               switched_in_milliunits AS switched_in, contraction_milliunits AS contraction, churn_milliunits AS churn,
               switched_out_milliunits AS switched_out, closing_milliunits AS closing,
               closing_subscriptions AS subscriptions
          FROM mrr_movement_by_month v WHERE app_id = $1 AND v.month >= \(sinceMonth)
         ORDER BY v.month DESC, currency
        """
    )

    static let refundedMoney = ReportQuestion(
        "refunded-money",
        on: ["refund_rate_by_month"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("currency", "Currency", .text),
            FigureColumn("gross", "Sales", .money), FigureColumn("refunded", "Refunded of them", .money),
        ],
        """
        SELECT product_id, currency, sum(gross_milliunits) AS gross, sum(refunded_milliunits) AS refunded
          FROM refund_rate_by_month WHERE app_id = $1 AND month >= \(sinceMonth)
         GROUP BY product_id, currency HAVING sum(refunded) > 0 ORDER BY product_id, currency
        """
    )

    static let refundsByProduct = refunds("refunds-by-product", by: "product_id", "Product")

    static let refundsByStorefront = refunds("refunds-by-storefront", by: "storefront", "Storefront")

    private static func refunds(_ name: String, by column: String, _ title: String) -> ReportQuestion {
        ReportQuestion(
            name,
            on: ["refund_rate_by_month"],
            [
                FigureColumn(column, title, .text), FigureColumn("purchases", "Purchases", .count),
                FigureColumn("refunded", "Refunded of them", .count), FigureColumn("rate", "Refund rate", .rate),
                FigureColumn("issues", "For an issue with the app", .count),
            ],
            """
            SELECT \(column), sum(purchases) AS purchases, sum(refunded) AS refunded,
                   round(sum(refunded) / sum(purchases), 4) AS rate, sum(refunded_for_an_issue) AS issues
              FROM refund_rate_by_month WHERE app_id = $1 AND month >= \(sinceMonth)
             GROUP BY \(column) ORDER BY sum(refunded) DESC, sum(purchases) DESC, \(column)
            """
        )
    }
}
