import Postgres
import TestSupport
import Testing

/// The views behind the charts of money: by day, a customer, in ratios, and in one currency.
@Suite(.migratedDatabase)
struct RevenueChartTests {
    private static let sales = """
        a1 | a | monthly | 2025-01-10 | 2025-02-10 | 10000 |
        a2 | a | monthly | 2025-02-10 | 2025-03-10 | 10000 | transaction_reason=RENEWAL, revocation_date=2025-02-20
        b1 | b | monthly | 2025-02-03 | 2025-02-10 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
        b2 | b | monthly | 2025-02-10 | 2025-03-10 | 10000 | transaction_reason=RENEWAL  # its first payment: new revenue
        c1 | - | coins   | 2025-02-10 | -          | 990   |
        d1 | d | monthly | 2025-02-03 | 2025-02-10 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
        """

    @Test func `revenue_by_day: first payments, later payments and one-time purchases, refunds on their own day`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        #expect(
            try await world.answer(
                """
                SELECT to_char(day, 'MM-DD') AS d, product_id, purchases, new_payments, renewal_payments, gross_milliunits, new_milliunits,
                       renewal_milliunits, one_time_milliunits, refunds, refunded_milliunits, net_milliunits, net_amount
                  FROM revenue_by_day ORDER BY 1, 2
                """
            ) == [
                "01-10 monthly 1 1 0 10000 10000 0 0 0 0 10000 10.000", "02-10 coins 1 0 0 990 0 0 990 0 0 990 0.990",
                "02-10 monthly 2 1 1 20000 10000 10000 0 0 0 20000 20.000",
                "02-20 monthly 0 0 0 0 0 0 0 1 10000 -10000 -10.000",
            ]
        )
    }

    @Test func `average_revenue_by_month: for each customer with a transaction, and for each who paid`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, currency, customers, paying_customers, net_milliunits, arpu_milliunits, arppu_milliunits,
                       arppu_amount
                  FROM average_revenue_by_month ORDER BY 1
                """
            ) == ["01 USD 1 1 10000 10000 10000 10.000", "02 USD 4 3 10990 2748 3663 3.663"]
        )
    }

    /// Opening, churn, expansion, contraction, new, a switch of currency, and a currency without a rate.
    private static let movement = """
        a1 | a | monthly | 2025-01-10 | 2025-02-10 | 10000 |
        a2 | a | monthly | 2025-02-10 | 2025-03-10 | 10000 | transaction_reason=RENEWAL
        b1 | b | monthly | 2025-01-10 | 2025-02-10 | 10000 |                                        # churns
        c1 | c | monthly | 2025-01-10 | 2025-02-10 | 10000 |
        c2 | c | monthly | 2025-02-10 | 2025-03-10 | 12000 | transaction_reason=RENEWAL             # expands by 2.00
        d1 | d | monthly | 2025-01-10 | 2025-02-10 | 10000 |
        d2 | d | monthly | 2025-02-10 | 2025-03-10 | 6000  | transaction_reason=RENEWAL             # contracts by 4.00
        e1 | e | monthly | 2025-02-10 | 2025-03-10 | 10000 |                                        # new
        f1 | f | monthly | 2025-01-10 | 2025-02-10 | 9000  | currency=EUR, storefront=DEU
        f2 | f | monthly | 2025-02-10 | 2025-03-10 | 10000 | transaction_reason=RENEWAL             # pays in dollars from now on
        g1 | g | monthly | 2025-01-10 | 2025-02-10 | 5000  | currency=CHF, storefront=CHE
        """

    @Test func `mrr_retention_by_month: gross and net retention, quick ratio and MRR for each subscription`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.movement)
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, currency, opening_milliunits, closing_milliunits, gross_mrr_retention, net_mrr_retention,
                       mrr_churn_rate, quick_ratio, arpa_milliunits, arpa_amount
                  FROM mrr_retention_by_month WHERE currency <> 'CHF' AND month <= '2025-02-01' ORDER BY 1, 2
                """
            ) == [
                "01 EUR 0 9000 - - - - 9000 9.000",
                "01 USD 0 40000 - - - - 10000 10.000",
                "02 EUR 9000 0 - - - - - -",  // all of it switched to dollars, so nothing was there to be kept or lost
                "02 USD 40000 48000 0.6500 0.7000 0.3500 0.86 9600 9.600",
            ]
        )
    }

    @Test
    func `MRR, its movement, proceeds and lifetime value in one currency, and no currency added up without a rate`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.movement)
        for view in [
            "mrr_converted_by_month", "mrr_movement_converted_by_month", "proceeds_converted_by_month",
            "lifetime_value_converted_by_cohort",
        ] {
            #expect(try await world.answer("SELECT * FROM \(view)") == [], "no rate, no row: \(view)")
        }
        try await world.run(
            """
            INSERT INTO exchange_rates VALUES ('USD', 'EUR', '2025-01-01', 9), ('USD', 'EUR', '2025-01-02', 1.1),
                ('USD', 'EUR', '2025-02-15', 1.2), ('USD', 'EUR', (now() + interval '2 days')::date, 7);
            INSERT INTO proceeds_rules VALUES (1, '*', '2025-01-01', 0, 0.3), (1, 'USA', '2025-02-01', 0.1, 0.15)
            """
        )
        let missing = "array_to_string(currencies_without_rate, '+') AS missing"
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, storefront, active_subscriptions, subscriptions_without_rate, mrr_estimated_milliunits, mrr_estimated_amount, \(missing)
                  FROM mrr_converted_by_month ORDER BY 1, 2
                """
            ) == [
                "01 CHE 1 1 - - CHF", "01 DEU 1 0 9900 9.900000 -", "01 USA 4 0 40000 40.000000 -",
                "02 USA 5 0 48000 48.000000 -",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, opening_estimated_milliunits AS opening, new_estimated_milliunits AS new, expansion_estimated_milliunits AS expansion,
                       contraction_estimated_milliunits AS contraction, churn_estimated_milliunits AS churn, switched_in_estimated_milliunits AS switched_in,
                       switched_out_estimated_milliunits AS switched_out, closing_estimated_milliunits AS closing, closing_estimated_amount AS amount, gross_mrr_retention,
                       net_mrr_retention, quick_ratio, \(missing)
                  FROM mrr_movement_converted_by_month WHERE month <= '2025-02-01' ORDER BY 1
                """
            ) == [
                "01 0 49900 0 0 0 0 0 49900 49.900000 - - - CHF",
                // It opens with 40.00 USD and 9.00 EUR at February's rate.
                "02 50800 10000 2000 4000 10000 10000 10800 48000 48.000000 0.6500 0.7000 0.86 CHF",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, storefront, net_estimated_milliunits, proceeds_estimated_milliunits, proceeds_estimated_amount,
                       is_without_rule, \(missing) FROM proceeds_converted_by_month ORDER BY 1, 2
                """
            ) == [
                "01 CHE - - - f CHF", "01 DEU 9900 6930 6.930000 f -", "01 USA 40000 28000 28.000000 f -",
                "02 USA 48000 37091 37.090909 f -",  // 48.00 / 1.1 * 0.85
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(cohort_month, 'MM') AS m, month_number, customers, net_estimated_milliunits, cumulative_estimated_milliunits,
                       value_estimated_milliunits, value_estimated_amount, \(missing)
                  FROM lifetime_value_converted_by_cohort WHERE month_number < 2 ORDER BY 1, 2
                """
            ) == [
                "01 0 5 49900 49900 9980 9.980000 CHF", "01 1 5 28000 77900 15580 15.580000 CHF",
                "02 0 2 20000 20000 10000 10.000000 -", "02 1 2 0 20000 10000 10.000000 -",
            ]
        )
        // A rate that begins later leaves the currency listed, because the amount of the first month is missing from each later sum.
        try await world.run("INSERT INTO exchange_rates VALUES ('USD', 'CHF', '2025-02-01', 1)")
        #expect(
            try await world.answer(
                "SELECT month_number, \(missing) FROM lifetime_value_converted_by_cohort WHERE cohort_month = '2025-01-01' AND month_number < 2 ORDER BY 1"
            ) == ["0 CHF", "1 CHF"]
        )
        #expect(
            try await world.answer(
                """
                SELECT exchange_rate('USD', 'EUR', '2024-12-31') AS before, exchange_rate('USD', 'EUR', '2025-02-14') AS carried,
                       exchange_rate('USD', 'EUR', '2025-02-15') AS own, exchange_rate('USD', 'EUR', '9999-12-31') AS today,
                       exchange_rate('USD', 'USD', '2000-01-01') AS same, exchange_rate('EUR', 'USD', '2025-02-15') AS other_way
                """
            ) == ["- 1.1 1.2 1.2 1 -"]
        )
    }

    @Test func `commission falls after 365 days of paid service: lapses, trials, refunds and extensions do not count`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | yearly  | 2024-02-01 | 2025-02-01 | 100000 |                                    # the first year,
            a2 | a | yearly  | 2025-02-01 | 2026-02-01 | 100000 | transaction_reason=RENEWAL         # the second: the smaller commission
            b1 | b | yearly  | 2024-01-25 | 2024-02-01 | 0      | offer_type=1, offer_discount_type=FREE_TRIAL
            b2 | b | yearly  | 2024-02-01 | 2025-01-30 | 100000 | transaction_reason=RENEWAL         # 364 days
            b3 | b | yearly  | 2025-02-01 | 2026-02-01 | 100000 | transaction_reason=RENEWAL         # too early by a day
            c1 | c | yearly  | 2024-01-01 | 2024-12-31 | 100000 |                                    # 365 days,
            c2 | c | yearly  | 2025-02-20 | 2026-02-20 | 100000 |                                    # bought again after 51 days: they count
            d1 | d | yearly  | 2023-11-01 | 2024-11-01 | 100000 |
            d2 | d | yearly  | 2025-02-20 | 2026-02-20 | 100000 |                                    # after 111 days: counted from 0
            e1 | e | yearly  | 2023-02-01 | 2024-02-01 | 100000 | revocation_date=2024-01-20         # refunded: no paid service
            e2 | e | yearly  | 2024-02-20 | 2025-02-10 | 100000 |                                    # 356 days
            e3 | e | yearly  | 2025-02-10 | 2026-02-10 | 100000 | transaction_reason=RENEWAL
            f1 | f | monthly | 2024-02-01 | 2025-02-15 | 10000  |                                    # a month that Apple extended by a year
            f2 | f | monthly | 2025-02-15 | 2025-03-15 | 10000  | transaction_reason=RENEWAL
            g1 | g | monthly | 2024-02-05 | 2024-03-05 | 10000  | is_upgraded=true
            g2 | g | yearly  | 2024-02-25 | 2025-02-04 | 100000 |                                    # upgraded after 20 days: 365 together
            g3 | g | yearly  | 2025-02-04 | 2026-02-04 | 100000 | transaction_reason=RENEWAL, revocation_date=2025-03-05, revocation_percentage_milliunits=50000
            """
        )
        try await world.notify("n1 | RENEWAL_EXTENDED | - | 2024-02-02 | f1 | original_transaction_id=f")
        try await world.run(
            """
            INSERT INTO products (app_id, product_id, period) VALUES (1, 'monthly', 'P1M'), (1, 'yearly', 'P1Y');
            INSERT INTO proceeds_rules (app_id, valid_from, tax, commission, commission_after_a_year) VALUES (1, '2023-01-01', 0.25, 0.3, 0.15);
            INSERT INTO proceeds_rules (app_id, valid_from, tax, commission) VALUES (1, '2025-03-01', 0.25, 0.15)
            """
        )
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'YY-MM') AS m, product_id, purchases, gross_milliunits, refunded_milliunits, net_milliunits FROM revenue_after_a_year_by_month ORDER BY 1"
            ) == ["25-02 yearly 3 300000 0 300000", "25-03 yearly 0 0 50000 -50000"]  // a2, c2 and g3
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'YY-MM') AS m, product_id, net_milliunits, proceeds_estimated_milliunits, net_after_a_year_milliunits, commission_after_a_year,
                       proceeds_by_year_estimated_milliunits, proceeds_by_year_estimated_amount
                  FROM proceeds_by_month WHERE month >= '2025-01-01' ORDER BY 1, 2
                """
            ) == [
                "25-02 monthly 10000 5600 0 0.15 5600 5.600",
                // 600.00 / 1.25: three payments less 30 %, three less 15 %.
                "25-02 yearly 600000 336000 300000 0.15 372000 372.000",
                // The Small Business Program: one commission for all, because the rule has no second one.
                "25-03 yearly -50000 -34000 -50000 0.15 -34000 -34.000",
            ]
        )
    }

    @Test func `a year of paid service goes on after more than 60 days of an extension or of a free offer`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | yearly | 2024-01-01 | 2025-04-01 | 100000 |                                    # extended by 90 days
            a2 | a | yearly | 2025-04-01 | 2026-04-01 | 100000 | transaction_reason=RENEWAL
            b1 | b | yearly | 2024-01-01 | 2025-01-01 | 100000 |
            b2 | b | yearly | 2025-01-01 | 2025-04-01 | 0      | offer_type=2, offer_discount_type=FREE_TRIAL, transaction_reason=RENEWAL
            b3 | b | yearly | 2025-04-01 | 2026-04-01 | 100000 | transaction_reason=RENEWAL
            c1 | c | yearly | 2024-01-01 | 2025-01-01 | 100000 |
            c2 | c | yearly | 2025-02-20 | 2025-03-20 | 0      | offer_type=2, offer_discount_type=FREE_TRIAL  # free after a lapse of 50 days
            c3 | c | yearly | 2025-03-20 | 2026-03-20 | 100000 | transaction_reason=RENEWAL
            d1 | d | yearly | 2024-01-01 | 2025-01-01 | 100000 |
            d2 | d | yearly | 2025-03-10 | 2025-04-10 | 0      | offer_type=2, offer_discount_type=FREE_TRIAL  # after 68 days: counted from 0
            d3 | d | yearly | 2025-04-10 | 2026-04-10 | 100000 | transaction_reason=RENEWAL
            e1 | e | yearly | 2024-01-01 | 2025-01-01 | 100000 |
            e2 | e | yearly | 2025-01-01 | 2025-04-01 | 0      | in_app_ownership_type=FAMILY_SHARED           # another member's
            e3 | e | yearly | 2025-04-01 | 2026-04-01 | 100000 |
            """
        )
        try await world.notify("n1 | RENEWAL_EXTENDED | - | 2024-12-01 | a1 | original_transaction_id=a")
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        let differences = try await world.differences()
        #expect(differences == [])
        let later = try await world.answer(
            "SELECT transaction_id FROM refresh_stored_periods WHERE is_after_a_year ORDER BY 1"
        )
        #expect(later == ["a2", "b3", "c3"])
    }

    @Test func `a currency without a rate is named where its sales and refunds of a day add up to 0`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | - | coins | 2025-01-10 | - | 1000 | currency=CHF, revocation_date=2025-01-10 12:00
            b | - | coins | 2025-01-10 | - | 0    | currency=JPY                                    # no money moved
            c | - | coins | 2025-01-10 | - | 2000 |
            """
        )
        try await world.run("INSERT INTO exchange_rates VALUES ('USD', 'EUR', '2025-01-01', 1.1)")
        for view in ["revenue_converted_by_month", "proceeds_converted_by_month"] {
            let shown = try await world.answer(
                "SELECT net_estimated_milliunits, array_to_string(currencies_without_rate, '+') FROM \(view)"
            )
            #expect(shown == ["2000 CHF"], "\(view)")
        }
    }
}
