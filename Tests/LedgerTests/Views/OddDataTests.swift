import Ledger
import Postgres
import TestSupport
import Testing

/// Purchases with missing or unusual data from Apple, or a wrong entry by the user.
@Suite(.migratedDatabase)
struct OddDataTests {
    @Test
    func
        `without a price, a currency, a period or an app transaction ID a purchase is counted, and adds what is known`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly  | 2025-01-10 | 2025-02-10 | -     |                                                  # no price
            b1 | b | monthly  | 2025-01-10 | 2025-02-10 | 10000 | currency=-                                       # no currency
            c1 | c | ten.days | 2025-01-25 | 2025-02-04 | 10000 |                                                  # a length that no product has
            d1 | d | -        | 2025-01-10 | 2025-02-10 | 10000 | app_transaction_id=9, product_id=-, storefront=- # no product, no storefront
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT product_id, period, storefront, currency, active_subscriptions, without_mrr, mrr_milliunits FROM mrr_by_month
                 ORDER BY product_id, currency
                """
            ) == [
                "monthly P1M USA USD 1 1 0", "monthly P1M USA - 1 0 10000", "ten.days - USA USD 1 1 0",
                "- P1M - USD 1 0 10000",
            ]
        )
        #expect(
            try await world.answer(
                "SELECT product_id, currency, purchases, gross_milliunits, without_price FROM revenue_by_month ORDER BY 1, 2"
            )
                == ["monthly USD 1 0 1", "monthly - 1 10000 0", "ten.days USD 1 10000 0", "- USD 1 10000 0"]
        )
        // Without an app transaction ID, each subscription is a separate customer.
        #expect(
            try await world.answer("SELECT transaction_id, customer_key FROM purchases ORDER BY 1")
                == ["a1 a", "b1 b", "c1 c", "d1 9"]
        )
        #expect(try await world.answer("SELECT sum(customers) FROM product_summary") == ["4"])
    }

    @Test func `one subscription in two currencies and two storefronts is one subscription, and no amounts are mixed`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly | 2025-01-10 | 2025-02-10 | 9000  | currency=EUR, storefront=DEU, app_transaction_id=1
            a2 | a | monthly | 2025-02-10 | 2025-03-10 | 10000 | transaction_reason=RENEWAL, app_transaction_id=1
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, currency, new_milliunits, churn_milliunits, switched_in_milliunits, switched_out_milliunits
                  FROM mrr_movement_by_month WHERE month <= '2025-02-01' ORDER BY 1, 2
                """
            ) == ["01 EUR 9000 0 0 0", "02 EUR 0 0 0 9000", "02 USD 0 0 10000 0"]
        )
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, churned FROM renewals_and_churn_by_month WHERE month = '2025-02-01'"
            )
                == ["02 0"]
        )
        #expect(
            try await world.answer("SELECT storefront, currency, active_subscriptions FROM mrr_by_month ORDER BY month")
                == ["DEU EUR 1", "USA USD 1"]
        )
        #expect(
            try await world.answer(
                "SELECT currency, customers, value_milliunits FROM lifetime_value_by_cohort WHERE month_number = 0 ORDER BY 1"
            )
                == ["EUR 1 9000", "USD 1 10000"]
        )
        #expect(
            try await world.answer(
                "SELECT storefront, sum(new), sum(resubscribed), sum(switched_in), sum(switched_out) FROM subscription_movement_by_day GROUP BY 1 ORDER BY 1"
            ) == ["DEU 1 0 0 1", "USA 0 0 1 0"]
        )
    }

    @Test(arguments: ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
    func `months and days are UTC in every session time zone`(zone: String) async throws {
        let world = try await TestLedger()
        // An hour before and an hour after the month ends in UTC+14, in UTC and in UTC-11.
        try await world.buy(
            """
            a | - | coins   | 2025-01-31 09:00 | -                | 1    |
            b | - | coins   | 2025-01-31 11:00 | -                | 10   |
            c | - | coins   | 2025-01-31 23:00 | -                | 100  |
            d | - | coins   | 2025-02-01 01:00 | -                | 1000 |
            e | - | coins   | 2025-02-01 10:00 | -                | 2000 |
            f | - | coins   | 2025-02-01 12:00 | -                | 4000 |
            s | s | monthly | 2025-01-01 11:00 | 2025-01-31 23:00 | 100  |
            t | t | monthly | 2025-01-01 11:00 | 2025-02-01 01:00 | 100  |
            """
        )
        let found = try await world.ledger.transaction { connection in
            try connection.script("SET LOCAL TimeZone = '\(zone)'; SELECT count(*) FROM refresh_views()")
            return try connection.run(
                """
                SELECT string_agg(line, '; ' ORDER BY line) AS all FROM (
                    SELECT concat_ws(' ', 'sold', month, gross_milliunits) AS line FROM revenue_by_month WHERE product_id = 'coins'
                    UNION ALL SELECT concat_ws(' ', 'active', month, active_subscriptions) FROM mrr_by_month
                    UNION ALL SELECT concat_ws(' ', 'active', day, active) FROM active_subscriptions_by_day WHERE day = '2025-01-31'
                    UNION ALL SELECT concat_ws(' ', 'expired', day, expired) FROM subscription_movement_by_day WHERE expired > 0
                    UNION ALL SELECT concat_ws(' ', 'month', month) FROM subscription_months) lines
                """
            )[0].text("all")
        }
        #expect(
            found
                == "active 2025-01-01 1; active 2025-01-31 1; expired 2025-01-31 1; expired 2025-02-01 1; month 2025-01-01; "
                + "sold 2025-01-01 111; sold 2025-02-01 7000"
        )
    }

    @Test(.slow) func `every view shows the same in a time zone that has no midnight on some days`() async throws {
        let world = try await TestLedger()
        // In Paraguay, clocks went from 00:00 to 01:00 on 1 October 2023 and on 6 October 2024.
        try await world.buy(
            """
            a1 | a | monthly | 2023-10-10 | 2023-11-10 | 10000 |
            a2 | a | monthly | 2023-11-10 | 2023-12-10 | 10000 | transaction_reason=RENEWAL
            a3 | a | monthly | 2024-01-05 | 2024-02-05 | 10000 |
            b1 | b | monthly | 2024-09-20 | 2024-11-20 | 10000 |                             # extended
            b2 | b | monthly | 2024-11-20 | 2024-12-20 | 10000 | transaction_reason=RENEWAL
            """
        )
        let differing = try await world.ledger.transaction { connection in
            try connection.script("\(Ledger.defaultPlanner); SELECT count(*) FROM refresh_views()")
            let views = try connection.run("SELECT viewname FROM pg_views WHERE schemaname = 'appstore' ORDER BY 1")
                .map { try $0.text("viewname") }
            for view in views {
                try connection.script("CREATE TEMP TABLE utc_\(view) ON COMMIT DROP AS TABLE \(view)")
            }
            try connection.script("SET LOCAL TimeZone = 'America/Asuncion'")
            var differing: [String] = []
            for view in views {
                let rows = try connection.run(
                    """
                    SELECT EXISTS ((TABLE utc_\(view) EXCEPT ALL TABLE \(view))
                                   UNION ALL (TABLE \(view) EXCEPT ALL TABLE utc_\(view))) AS differs
                    """
                )
                if try rows[0].bool("differs") { differing.append(view) }
            }
            return differing
        }
        #expect(differing == [])
    }

    @Test func `29 February: a month and a year that begin or end on it have their period and their month`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly | 2024-01-31 | 2024-02-29 | 10000  |
            a2 | a | monthly | 2024-02-29 | 2024-03-31 | 10000  | transaction_reason=RENEWAL
            b1 | b | yearly  | 2024-02-29 | 2025-02-28 | 120000 |
            """
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, period_by_length, mrr_milliunits FROM subscription_periods ORDER BY 1"
            )
                == ["a1 P1M 10000", "a2 P1M 10000", "b1 P1Y 10000"]
        )
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, count(*), min(month), max(month) FROM subscription_months GROUP BY 1 ORDER BY 1"
            )
                == ["a 2 2024-01-01 2024-02-01", "b 12 2024-02-01 2025-01-01"]
        )
        #expect(
            try await world.answer(
                "SELECT active FROM active_subscriptions_by_day WHERE day = '2024-02-29' ORDER BY product_id"
            ) == ["1", "1"]
        )
    }

    @Test func `product_period_conflicts: a period that the user entered and that the dates contradict`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | wrong | 2025-01-10 | 2025-02-10 | 10000  |
            b1 | b | right | 2025-01-10 | 2025-02-10 | 10000  |
            c1 | c | weeks | 2025-01-10 | 2025-01-17 | 10000  |
            d1 | d | other | 2025-01-10 | 2025-01-17 | 10000  |
            """
        )
        try await world.run(
            "INSERT INTO products (app_id, product_id, period) VALUES (1, 'wrong', 'P1Y'), (1, 'right', 'P1M'), (1, 'weeks', 'P7D'), (1, 'unsold', 'P1M')"
        )
        #expect(try await world.answer("SELECT * FROM product_period_conflicts") == ["1 wrong P1Y P1M"])
        // The user's period is used until it is corrected.
        #expect(
            try await world.answer("SELECT mrr_milliunits FROM subscription_periods WHERE product_id = 'wrong'") == [
                "833"
            ]
        )
    }
}
