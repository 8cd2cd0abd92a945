import Ledger
import Postgres
import TestSupport
import Testing

/// The views against a model that knows the customers' lives and no SQL, and against each other.
@Suite(.migratedDatabase, .slow)
struct ModelTests {
    /// A thousand customers drawn with `seed`: the ledger that holds them, and the model of them.
    private func settle(seed: UInt64) async throws -> (TestLedger, CustomerModel) {
        let world = try await TestLedger()
        let began = try #require(Int(try await world.value("extract(epoch FROM now())::bigint") ?? ""))
        let customers = RandomCustomers(count: 1_000, now: began, seed: seed)
        try await customers.load(into: world)
        try await world.run("ANALYZE")
        _ = try await world.ledger.refreshViews()
        // The views show the ledger as of this instant.
        let refreshed = try await world.value(
            "SELECT ceil(extract(epoch FROM min(refreshed_at)))::bigint FROM view_freshness"
        )
        return (world, CustomerModel(subscriptions: customers.subscriptions, now: try #require(Int(refreshed ?? ""))))
    }

    /// The first lines that only one side has, those of the view with `+`.
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

    @Test(arguments: [20_261_123] as [UInt64])
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
        #expect(try await contradictions(world) == [])
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
                  FULL JOIN subscription_movement_by_day m USING (product_id, day)
                 WHERE coalesce(grown, 0) <> coalesce(new + resubscribed + switched_in - expired - switched_out, 0))
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
