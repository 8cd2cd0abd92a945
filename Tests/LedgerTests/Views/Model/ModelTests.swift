import FoundationEssentials
import Ledger
import Postgres
import TestSupport
import Testing

/// The views against a model that knows the customers' lives and no SQL, and against each other.
@Suite(.migratedDatabase, .slow)
struct ModelTests {
    /// A thousand customers drawn with `seed`: the ledger with them, and the model of them.
    private func settle(seed: UInt64) async throws -> (TestLedger, CustomerModel) {
        let world = try await TestLedger()
        let began = try #require(Int(try await world.value("extract(epoch FROM now())::bigint") ?? ""))
        let customers = RandomCustomers(count: 1_000, now: began, seed: seed)
        try await customers.load(into: world)
        try await world.run(
            """
            INSERT INTO exchange_rates (currency, reporting_currency, day, rate)
            SELECT 'EUR', 'USD', '1970-01-01'::date + 10 * tens, 2 + tens % 2 FROM generate_series(1800, 2200) tens;
            INSERT INTO proceeds_rules (app_id, storefront, valid_from, tax, commission, commission_after_a_year)
            VALUES (1, '*', '2020-01-01', 0, 0.25, 0.125);
            ANALYZE
            """
        )
        _ = try await world.ledger.refreshViews()
        // The views show the ledger as of this instant.
        let refreshed = try await world.value(
            "SELECT ceil(extract(epoch FROM min(refreshed_at)))::bigint FROM view_freshness"
        )
        return (
            world,
            CustomerModel(
                subscriptions: customers.subscriptions,
                sales: customers.sales,
                now: try #require(Int(refreshed ?? ""))
            )
        )
    }

    /// The first lines that only one side has; lines of the view begin with `+`.
    private func differences(_ world: TestLedger, _ query: String, from expected: [String]) async throws -> [String] {
        let found = Set(
            try await world.rows("SELECT concat_ws(' ', \(query)").map { String($0.dropFirst().dropLast()) }
                .map { $0.filter { $0 != "\"" } }
        )
        let known = Set(expected)
        #expect(!known.isEmpty)
        return Array(
            (found.subtracting(known).map { "+ " + $0 } + known.subtracting(found).map { "- " + $0 }).sorted {
                $0.dropFirst(2) < $1.dropFirst(2)
            }.prefix(8)
        )
    }

    /// More seeds, one for each of `STORELEDGER_LIVES` worlds.
    private static let seeds: [UInt64] =
        (0..<(ProcessInfo.processInfo.environment["STORELEDGER_LIVES"].flatMap(UInt64.init) ?? 1)).map {
            20_261_123 + $0
        }

    @Test(arguments: seeds)
    func `a thousand random customers: every view shows what was true of them at each instant`(seed: UInt64)
        async throws
    {
        let (world, model) = try await settle(seed: seed)
        #expect(
            try await differences(
                world,
                "month, product_id, period, currency, active_subscriptions, without_mrr, mrr_milliunits) FROM mrr_by_month",
                from: model.mrrByMonth
            ) == []
        )
        #expect(
            try await differences(
                world,
                """
                month, currency, opening_milliunits, new_milliunits, reactivation_milliunits, expansion_milliunits, contraction_milliunits,
                    churn_milliunits, switched_in_milliunits, switched_out_milliunits, closing_milliunits, opening_subscriptions,
                    new_subscriptions, reactivated_subscriptions, expanded_subscriptions, contracted_subscriptions,
                    churned_subscriptions, closing_subscriptions) FROM mrr_movement_by_month
                """,
                from: model.movementByMonth
            ) == []
        )
        #expect(
            try await differences(
                world,
                "day, product_id, active, trials) FROM active_subscriptions_by_day WHERE active + trials > 0",
                from: model.activeByDay
            ) == []
        )
        #expect(
            try await differences(
                world,
                "month, product_id, active_at_start, churned) FROM renewals_and_churn_by_month WHERE active_at_start > 0",
                from: model.churnByMonth
            ) == []
        )
        #expect(
            try await differences(
                world,
                "cohort_month, product_id, month_number, subscriptions, retained) FROM retention_cohorts",
                from: model.retention
            ) == []
        )
        #expect(
            try await differences(
                world,
                "product_id, currency, status, subscriptions, mrr_milliunits) FROM subscriptions_by_status",
                from: model.byStatus
            ) == []
        )
        #expect(
            try await differences(
                world,
                """
                month, product_id, currency, gross_milliunits, refunds, refunded_milliunits, estimated_upgrade_refunds,
                    estimated_upgrade_refund_milliunits) FROM revenue_by_month
                """,
                from: model.revenueByMonth
            ) == []
        )
        #expect(
            try await differences(
                world,
                "day, product_id, storefront, new, trial_conversions, introductory, direct) FROM new_subscriptions_by_day",
                from: model.newByDay
            ) == []
        )
        #expect(
            try await differences(
                world,
                "day, product_id, storefront, started, converted, running, will_not_renew, lost) FROM trials_by_day",
                from: model.trialsByDay
            ) == []
        )
        #expect(
            try await differences(
                world,
                """
                product_id, storefront, sum(subscriptions), sum(mrr_milliunits), sum(will_not_renew), sum(will_not_renew_mrr_milliunits))
                  FROM mrr_at_risk_by_month GROUP BY product_id, storefront
                """,
                from: model.atRisk
            ) == []
        )
        for (query, lines) in moneyAndEvents(model) {
            let found = try await differences(world, query, from: lines)
            #expect(found == [], "\(query)")
        }
        #expect(try await contradictions(world) == [])
        #expect(try await chartContradictions(world) == [])
        // The model and the sums of a refresh agree with what every record gives.
        #expect(try await world.differences() == [])
    }

    private func moneyAndEvents(_ model: CustomerModel) -> [(String, [String])] {
        [
            (
                """
                day, product_id, currency, purchases, new_payments, renewal_payments, gross_milliunits, new_milliunits, renewal_milliunits,
                    refunds, refunded_milliunits) FROM revenue_by_day
                """, model.revenueByDay
            ),
            (
                "month, product_id, currency, purchases, refunded, gross_milliunits, refunded_milliunits) FROM refund_rate_by_month",
                model.refundRate
            ),
            (
                "month, currency, customers, paying_customers, net_milliunits) FROM average_revenue_by_month",
                model.averageRevenue
            ),
            (
                "cohort_month, currency, month_number, customers, net_milliunits) FROM lifetime_value_by_cohort",
                model.lifetimeValue
            ),
            (
                "cohort_month, month_number, customers, net_estimated_milliunits) FROM lifetime_value_converted_by_cohort",
                model.lifetimeValueConverted
            ),
            (
                """
                product_id, purchases, free_purchases, refunded, customers, extract(epoch FROM first_sold_at)::bigint,
                    extract(epoch FROM last_sold_at)::bigint) FROM product_summary
                """, model.productSummary
            ),
            (
                """
                product_id, storefront, currency, price_milliunits, purchases, renewals, extract(epoch FROM first_sold_at)::bigint,
                    extract(epoch FROM last_sold_at)::bigint) FROM product_prices
                """, model.productPrices
            ),
            (
                """
                month, product_id, storefront, purchases, gross_estimated_milliunits, refunded_estimated_milliunits)
                  FROM revenue_converted_by_month WHERE purchases <> 0 OR gross_estimated_milliunits <> 0 OR refunded_estimated_milliunits <> 0
                """, model.revenueConverted
            ),
            (
                """
                month, product_id, storefront, currency, purchases, gross_milliunits, refunded_milliunits)
                  FROM revenue_after_a_year_by_month
                """, model.afterAYear
            ),
            (
                """
                month, product_id, storefront, currency, net_milliunits, proceeds_estimated_milliunits, net_after_a_year_milliunits,
                    proceeds_by_year_estimated_milliunits) FROM proceeds_by_month WHERE net_milliunits <> 0 OR net_after_a_year_milliunits <> 0
                """, model.proceeds
            ),
            (
                """
                month, product_id, storefront, net_estimated_milliunits, proceeds_by_year_estimated_milliunits)
                  FROM proceeds_converted_by_month
                 WHERE net_estimated_milliunits <> 0 OR proceeds_by_year_estimated_milliunits <> 0
                """, model.proceedsConverted
            ),
            (
                "day, product_id, storefront, new, resubscribed, expired, switched_in, switched_out) FROM subscription_movement_by_day",
                model.movementByDay
            ),
            (
                "product_id, period, payment_number, subscriptions, due, renewed) FROM retention_by_renewal",
                model.retentionByRenewal
            ),
            (
                """
                month, product_id, renewals, renewals_after_a_gap, trial_conversions) FROM renewals_and_churn_by_month
                 WHERE renewals > 0
                """, model.renewals
            ),
            (
                "month, product_id, failed, recovered, still_tried, lost) FROM billing_recovery_by_month",
                model.billingRecovery
            ),
            (
                """
                day, product_id, storefront, currency, cancelled, cancelled_trials, resumed, resumed_trials, cancelled_mrr_milliunits,
                    resumed_mrr_milliunits) FROM cancellations_by_day
                """, model.cancellations
            ),
            (
                """
                month, product_id, currency, requests, refunded, declined, pending, requested_milliunits, refunded_without_request,
                    declined_without_request) FROM refund_requests_by_month
                """, model.refundRequests
            ),
            ("month, product_id, began, revoked) FROM family_sharing_by_month", model.familySharing),
            (
                "month, product_id, storefront, offer, offer_type, redemptions) FROM offer_redemptions_by_month",
                model.offerRedemptions
            ),
            (
                "month, product_id, storefront, offer, offer_type, started, converted, running, lost) FROM offer_conversion_by_month",
                model.offerConversion
            ),
            ("day, notification_type, notifications) FROM notification_health_by_day", model.notificationsByDay),
            (
                "month, currency, gross_mrr_retention, net_mrr_retention, arpa_milliunits) FROM mrr_retention_by_month WHERE gross_mrr_retention IS NOT NULL",
                model.mrrRetention
            ),
            (
                "month, product_id, storefront, active_subscriptions, mrr_estimated_milliunits) FROM mrr_converted_by_month",
                model.mrrConverted
            ),
            (
                """
                month, opening_estimated_milliunits, new_estimated_milliunits, reactivation_estimated_milliunits, expansion_estimated_milliunits,
                    contraction_estimated_milliunits, churn_estimated_milliunits, switched_in_estimated_milliunits,
                    switched_out_estimated_milliunits, closing_estimated_milliunits) FROM mrr_movement_converted_by_month
                """, model.movementConverted
            ),
        ]
    }

    /// Checks the views of the charts against each other; returns a line for each contradiction.
    private func chartContradictions(_ world: TestLedger) async throws -> [String] {
        try await world.rows(
            """
            SELECT 'new subscriptions by how they were won, and the movement of the day' WHERE EXISTS (
                SELECT FROM new_subscriptions_by_day n
                  FULL JOIN (SELECT * FROM subscription_movement_by_day WHERE new > 0) m USING (app_id, day, product_id, storefront)
                 WHERE n.new IS DISTINCT FROM m.new OR n.new <> trial_conversions + introductory + direct)
            UNION ALL
            SELECT 'a trial has one outcome' WHERE EXISTS (
                SELECT FROM trials_by_day WHERE started <> converted + running + lost OR will_not_renew > running)
            UNION ALL
            SELECT 'movement of a week and of its days' WHERE EXISTS (
                SELECT FROM (SELECT date_trunc('week', day::timestamp)::date AS week, product_id, storefront, sum(new) AS new, sum(churned) AS churned
                               FROM subscription_movement_by_day GROUP BY 1, 2, 3) d
                  FULL JOIN (SELECT * FROM subscription_movement_by_week) w USING (week, product_id, storefront)
                 WHERE (coalesce(d.new, 0), coalesce(d.churned, 0)) <> (coalesce(w.new, 0), coalesce(w.churned, 0)))
            UNION ALL
            SELECT 'active at the end of a week, and on its Sunday' WHERE EXISTS (
                SELECT FROM (SELECT week + 6 AS day, product_id, sum(closing) AS active FROM subscription_movement_by_week GROUP BY 1, 2) w
                  JOIN active_subscriptions_by_day a USING (day, product_id)
                 WHERE w.active <> a.active)
            UNION ALL
            SELECT 'a week without a row, and its Sunday' WHERE EXISTS (
                SELECT FROM active_subscriptions_by_day a
                 WHERE a.active > 0 AND date_part('isodow', a.day) = 7
                   AND NOT EXISTS (SELECT FROM subscription_movement_by_week w WHERE w.week = a.day - 6 AND w.product_id = a.product_id))
            UNION ALL
            SELECT 'active at the end of a month by storefront, by movement and by MRR' WHERE EXISTS (
                SELECT FROM (SELECT * FROM subscription_movement_by_month WHERE closing <> 0) m
                  FULL JOIN (SELECT month, product_id, storefront, sum(active_subscriptions) AS active FROM mrr_by_month GROUP BY 1, 2, 3) b
                       USING (month, product_id, storefront)
                 WHERE m.closing IS DISTINCT FROM b.active)
            UNION ALL
            SELECT 'a month does not open with what the one before closed with' WHERE EXISTS (
                SELECT FROM subscription_movement_by_month a
                  FULL JOIN (SELECT *, (month - interval '1 month')::date AS before FROM subscription_movement_by_month) b
                       ON b.before = a.month AND b.product_id = a.product_id AND b.storefront = a.storefront
                 WHERE coalesce(a.closing, 0) <> coalesce(b.opening, 0) AND a.month IS DISTINCT FROM (SELECT max(month) FROM subscription_movement_by_month))
            UNION ALL
            SELECT 'revenue by day and by month' WHERE EXISTS (
                SELECT FROM (SELECT date_trunc('month', day::timestamp)::date AS month, product_id, currency, sum(gross_milliunits) AS gross,
                                    sum(refunded_milliunits) AS refunded, sum(net_milliunits) AS net FROM revenue_by_day GROUP BY 1, 2, 3) d
                  FULL JOIN (SELECT month, product_id, currency, sum(gross_milliunits) AS gross, sum(refunded_milliunits) AS refunded,
                                    sum(net_milliunits) AS net FROM revenue_by_month WHERE purchases + refunds > 0 GROUP BY 1, 2, 3) m
                       USING (month, product_id, currency)
                 WHERE (d.gross, d.refunded, d.net) IS DISTINCT FROM (m.gross, m.refunded, m.net))
            UNION ALL
            SELECT 'new revenue, and first payments' WHERE (SELECT sum(new_milliunits) FROM revenue_by_day)
                <> (SELECT sum(price_milliunits) FROM subscription_periods WHERE payment_number = 1)
            UNION ALL
            SELECT 'one-time revenue, and purchases that are no subscription' WHERE (SELECT sum(one_time_milliunits) FROM revenue_by_day)
                <> (SELECT sum(price_milliunits) FROM purchases WHERE type <> 'Auto-Renewable Subscription')
            UNION ALL
            SELECT 'movement of a month and of its days' WHERE EXISTS (
                SELECT FROM (SELECT date_trunc('month', day::timestamp)::date AS month, product_id, storefront, sum(new) AS new, sum(churned) AS churned
                               FROM subscription_movement_by_day GROUP BY 1, 2, 3) d
                  FULL JOIN (SELECT * FROM subscription_movement_by_month) m USING (month, product_id, storefront)
                 WHERE (coalesce(d.new, 0), coalesce(d.churned, 0)) <> (coalesce(m.new, 0), coalesce(m.churned, 0)))
            UNION ALL
            SELECT 'MRR at risk, and MRR by state' WHERE EXISTS (
                SELECT FROM (SELECT currency, sum(mrr_milliunits) AS mrr FROM mrr_at_risk_by_month GROUP BY 1) r
                  FULL JOIN (SELECT currency, sum(mrr_milliunits) AS mrr FROM subscriptions_by_status
                              WHERE status IN ('active', 'grace period') GROUP BY 1) s USING (currency)
                 WHERE r.mrr IS DISTINCT FROM s.mrr)
            UNION ALL
            SELECT 'what customers brought, by customer and by purchase' WHERE EXISTS (
                SELECT FROM average_revenue_by_month a
                  FULL JOIN (SELECT month, currency, sum(net_milliunits) AS net, count(DISTINCT customer_key) AS payers FROM purchases
                              WHERE is_paid GROUP BY 1, 2) p USING (month, currency)
                 WHERE (coalesce(a.net_milliunits, 0), coalesce(a.paying_customers, 0)) <> (coalesce(p.net, 0), coalesce(p.payers, 0)))
            UNION ALL
            SELECT 'payments after a year, and all payments' WHERE EXISTS (
                SELECT FROM revenue_after_a_year_by_month a
                  LEFT JOIN (SELECT month, product_id, storefront, currency, sum(purchases) AS purchases, sum(gross_milliunits) AS gross,
                                    sum(refunded_milliunits) AS refunded FROM revenue_by_month GROUP BY 1, 2, 3, 4) r
                       USING (month, product_id, storefront, currency)
                 WHERE (a.purchases <= r.purchases AND a.gross_milliunits <= r.gross AND a.refunded_milliunits <= r.refunded) IS NOT TRUE)
            UNION ALL
            SELECT 'payments after a year, and their part of the proceeds'
             WHERE (SELECT sum(net_milliunits) FROM revenue_after_a_year_by_month) <> (SELECT sum(net_after_a_year_milliunits) FROM proceeds_by_month)
            UNION ALL
            SELECT 'MRR retention, and MRR movement' WHERE EXISTS (
                SELECT FROM mrr_retention_by_month r JOIN mrr_movement_by_month m USING (app_id, month, currency)
                 WHERE abs(r.gross_mrr_retention - 1 + (m.churn_milliunits + m.contraction_milliunits)::numeric
                           / nullif(m.opening_milliunits - m.switched_out_milliunits, 0)) > 0.0001)
            """
        )
    }

    /// Checks the views against each other; returns a line for each contradiction.
    private func contradictions(_ world: TestLedger) async throws -> [String] {
        try await world.rows(
            """
            SELECT 'a month does not close with what it opened with and what moved' WHERE EXISTS (
                SELECT FROM mrr_movement_by_month
                 WHERE closing_milliunits <> opening_milliunits + new_milliunits + reactivation_milliunits + expansion_milliunits
                       - contraction_milliunits - churn_milliunits + switched_in_milliunits - switched_out_milliunits)
            UNION ALL
            SELECT 'a month does not open with what the one before closed with' WHERE EXISTS (
                SELECT FROM mrr_movement_by_month a
                  JOIN mrr_movement_by_month b ON (b.app_id, b.currency) = (a.app_id, a.currency) AND b.month = a.month + interval '1 month'
                 WHERE (a.closing_milliunits, a.closing_subscriptions) <> (b.opening_milliunits, b.opening_subscriptions))
            UNION ALL
            SELECT 'MRR of a month and its movement' WHERE EXISTS (
                SELECT FROM (SELECT month, currency, sum(mrr_milliunits) AS mrr, sum(active_subscriptions) AS active FROM mrr_by_month GROUP BY 1, 2) m
                  FULL JOIN (SELECT * FROM mrr_movement_by_month WHERE closing_subscriptions > 0) v USING (month, currency)
                 WHERE (mrr, active) IS DISTINCT FROM (closing_milliunits, closing_subscriptions))
            UNION ALL
            SELECT 'active at the end of a month, and on its last day' WHERE EXISTS (
                SELECT FROM (SELECT (month + interval '1 month - 1 day')::date AS day, product_id, sum(active_subscriptions) AS active
                               FROM mrr_by_month WHERE month < date_trunc('month', now() AT TIME ZONE 'UTC') GROUP BY 1, 2) m
                  FULL JOIN (SELECT day, product_id, active FROM active_subscriptions_by_day
                              WHERE active > 0 AND date_part('day', day + 1) = 1 AND day < date_trunc('month', now() AT TIME ZONE 'UTC')) d
                       USING (day, product_id)
                 WHERE m.active IS DISTINCT FROM d.active)
            UNION ALL
            SELECT 'active now, by state and by day' WHERE EXISTS (
                SELECT FROM (SELECT sum(paid) AS active FROM subscriptions_by_status WHERE status IN ('active', 'grace period')) s,
                            (SELECT sum(active) AS active FROM active_subscriptions_by_day WHERE day = (SELECT max(day) FROM active_subscriptions_by_day)) d
                 WHERE s.active <> d.active)
            UNION ALL
            SELECT 'active of a day, and what moved on it' WHERE EXISTS (
                SELECT FROM (SELECT product_id, day, active - coalesce(lag(active) OVER (PARTITION BY app_id, product_id ORDER BY day), 0) AS grown
                               FROM active_subscriptions_by_day) a
                  FULL JOIN (SELECT product_id, day, sum(new + resubscribed + switched_in - expired - switched_out) AS moved
                               FROM subscription_movement_by_day GROUP BY 1, 2) m USING (product_id, day)
                 WHERE coalesce(grown, 0) <> coalesce(moved, 0))
            UNION ALL
            SELECT 'new subscriptions by day, and first payments' WHERE (SELECT sum(new) FROM subscription_movement_by_day)
                <> (SELECT count(*) FROM subscription_periods WHERE payment_number = 1 AND ends_at IS NOT NULL)
            UNION ALL
            SELECT 'churn by product and by currency' WHERE EXISTS (
                SELECT FROM (SELECT month, sum(churned) AS n FROM renewals_and_churn_by_month GROUP BY 1) r
                  JOIN (SELECT month, sum(churned_subscriptions) AS n FROM mrr_movement_by_month GROUP BY 1) m USING (month) WHERE r.n <> m.n)
            UNION ALL
            SELECT 'stretches of a subscription overlap' WHERE EXISTS (
                SELECT FROM subscription_periods WHERE ends_at > next_starts_at OR ends_at < starts_at)
            UNION ALL
            SELECT 'revenue and purchases' WHERE EXISTS (
                SELECT FROM (SELECT sum(gross_milliunits) AS gross, sum(net_milliunits) AS net FROM revenue_by_month) r,
                            (SELECT sum(price_milliunits) AS gross, sum(net_milliunits) AS net FROM purchases) p
                 WHERE (r.gross, r.net) <> (p.gross, p.net))
            UNION ALL
            SELECT 'estimated refunds of upgrades' WHERE EXISTS (
                SELECT FROM (SELECT sum(estimated_upgrade_refund_milliunits) AS n FROM revenue_by_month) r,
                            (SELECT sum(estimated_upgrade_refund_milliunits) AS n FROM subscription_periods) p WHERE r.n <> p.n)
            """
        )
    }
}
