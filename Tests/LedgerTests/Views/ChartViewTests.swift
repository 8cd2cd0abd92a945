import Postgres
import TestSupport
import Testing

/// The views behind the charts of subscriptions, against worlds small enough to be worked out by hand.
@Suite(.migratedDatabase)
struct ChartViewTests {
    private static let beginnings = """
        a1 | a | weekly  | 2025-03-03  | 2025-03-10  | 2000  |                                                      # bought at the full price
        a2 | a | weekly  | 2025-03-10  | 2025-03-17  | 2000  | transaction_reason=RENEWAL, storefront=DEU            # moved to Germany
        b1 | b | monthly | 2025-03-03  | 2025-03-10  | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
        b2 | b | monthly | 2025-03-10  | 2025-04-10  | 10000 | transaction_reason=RENEWAL                            # a trial that converted
        c1 | c | monthly | 2025-03-03  | 2025-04-03  | 5000  | offer_type=1, offer_discount_type=PAY_AS_YOU_GO       # introductory
        d1 | d | monthly | 2025-03-04  | 2025-04-04  | 7000  | offer_type=3, offer_identifier=GIFT
        e1 | e | monthly | 2025-03-03  | 2025-03-10  | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
        e2 | e | monthly | 2025-03-10  | 2025-03-17  | 0     | offer_type=3, offer_discount_type=FREE_TRIAL          # the same trial goes on
        f1 | f | monthly | now -2 days | now +5 days | 0     | offer_type=1, offer_discount_type=FREE_TRIAL          # still runs
        g1 | g | monthly | 2025-03-03  | 2025-03-10  | 0     | offer_type=1, offer_discount_type=FREE_TRIAL, in_app_ownership_type=FAMILY_SHARED
        h1 | h | monthly | 2025-03-03  | -           | 10000 | type=Auto-Renewable Subscription                     # its end is unknown
        """

    @Test func `new_subscriptions_by_day: every new subscription once, as a conversion, introductory or direct`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.beginnings)
        #expect(
            try await world.answer(
                """
                SELECT to_char(day, 'MM-DD') AS d, product_id, storefront, new, trial_conversions, introductory, direct, direct_with_offer
                  FROM new_subscriptions_by_day ORDER BY 1, 2
                """
            ) == [
                "03-03 monthly USA 1 0 1 0 0",  // c
                "03-03 weekly USA 1 0 0 1 0",  // a
                "03-04 monthly USA 1 0 0 1 1",  // d
                "03-10 monthly USA 1 1 0 0 0",  // b
            ]
        )
    }

    @Test func `new_customers_by_day: every customer once, on the day of the first purchase, wherever that was found`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | weekly  | 2025-03-03 | 2025-03-10 | 2000 | app_transaction_id=A
            b1 | - | coins   | 2025-03-05 | -          | 500  | app_transaction_id=A    # the same customer
            c1 | c | monthly | 2025-03-03 | 2025-03-10 | 0    | app_transaction_id=C, offer_type=1, offer_discount_type=FREE_TRIAL
            c2 | c | monthly | 2025-03-10 | 2025-04-10 | 9000 | app_transaction_id=C, transaction_reason=RENEWAL
            d1 | d | monthly | 2025-03-03 | 2025-04-03 | 9000 | app_transaction_id=D, in_app_ownership_type=FAMILY_SHARED
            """
        )
        let shown = """
            SELECT to_char(day, 'MM-DD') AS d, product_id, storefront, customers, paying_customers
              FROM new_customers_by_day ORDER BY 1, 2
            """
        #expect(try await world.answer(shown) == ["03-03 monthly USA 1 0", "03-03 weekly USA 1 1"])
        try await world.buy("e1 | - | coins | 2025-02-01 | - | 500 | app_transaction_id=A  # found later")
        #expect(try await world.answer(shown) == ["02-01 coins USA 1 1", "03-03 monthly USA 1 0"])
        #expect(try await world.differences() == [])
    }

    @Test func `trials_by_day: each trial on the day it began, and its outcome`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.beginnings)
        try await world.renewal("f | now -1 days | auto_renew_status=0")
        #expect(
            try await world.answer(
                """
                SELECT CASE WHEN day < '2026-01-01' THEN to_char(day, 'MM-DD') ELSE 'lately' END AS d, product_id, storefront,
                       started, converted, running, will_not_renew, lost, conversion_rate
                  FROM trials_by_day ORDER BY day
                """
            ) == ["03-03 monthly USA 2 1 0 0 1 0.5000", "lately monthly USA 1 0 1 1 0 0.0000"]
        )
    }

    @Test func `movement by week and month opens with what was there, closes with what is left, by storefront`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.beginnings)
        #expect(
            try await world.answer(
                """
                SELECT to_char(day, 'MM-DD') AS d, storefront, new, expired, switched_in, switched_out
                  FROM subscription_movement_by_day WHERE product_id = 'weekly' ORDER BY 1, 2
                """
            ) == ["03-03 USA 1 0 0 0", "03-10 DEU 0 0 1 0", "03-10 USA 0 0 0 1", "03-17 DEU 0 1 0 0"]
        )
        let movement = "opening, new, resubscribed, switched_in, expired, switched_out, closing, churned, churn_rate"
        #expect(
            try await world.answer(
                """
                SELECT to_char(week, 'MM-DD') AS w, storefront, \(movement)
                  FROM subscription_movement_by_week WHERE product_id = 'weekly' ORDER BY 1, 2
                """
            ) == [
                "03-03 USA 0 1 0 0 0 0 1 0 -", "03-10 DEU 0 0 0 1 0 0 1 0 -", "03-10 USA 1 0 0 0 0 1 0 0 0.0000",
                "03-17 DEU 1 0 0 0 1 0 0 1 1.0000",
            ]
        )
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, product_id, storefront, \(movement) FROM subscription_movement_by_month ORDER BY 1, 2, 3"
            ) == [
                "03 monthly USA 0 3 0 0 0 0 3 0 -", "03 weekly DEU 0 0 0 1 1 0 0 1 -",
                "03 weekly USA 0 1 0 0 0 1 0 0 -",
                "04 monthly USA 3 0 0 0 3 0 0 3 1.0000",
            ]
        )
        // A week in which nothing moved has a row, too: three monthly subscriptions run in the week of 17 March.
        #expect(
            try await world.answer(
                "SELECT opening, closing FROM subscription_movement_by_week WHERE product_id = 'monthly' AND week = '2025-03-17'"
            ) == ["3 3"]
        )
    }

    @Test func `cancellations_by_day: renewal switched off and on again, and the MRR that it is about`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.beginnings)
        try await world.notify(
            """
            n1 | DID_CHANGE_RENEWAL_STATUS | AUTO_RENEW_DISABLED | 2025-03-05 | a1 |
            n2 | DID_CHANGE_RENEWAL_STATUS | AUTO_RENEW_ENABLED  | 2025-03-05 | a1 |
            n3 | DID_CHANGE_RENEWAL_STATUS | AUTO_RENEW_DISABLED | 2025-03-06 | b1 |
            n4 | DID_CHANGE_RENEWAL_STATUS | AUTO_RENEW_DISABLED | 2025-03-07 | z1 | product_id=weekly  # of a transaction that was never read
            n5 | DID_CHANGE_RENEWAL_PREF   | DOWNGRADE           | 2025-03-07 | a1 |
            n6 | DID_CHANGE_RENEWAL_STATUS | AUTO_RENEW_DISABLED | 2025-03-07 | g1 |                    # shared
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(day, 'MM-DD') AS d, product_id, storefront, cancelled, cancelled_trials, resumed, resumed_trials,
                       cancelled_mrr_milliunits, resumed_mrr_milliunits, cancelled_mrr_amount
                  FROM cancellations_by_day ORDER BY 1
                """
            ) == [
                "03-05 weekly USA 1 0 1 0 8000 8000 8.000", "03-06 monthly USA 1 1 0 0 0 0 0.000",
                "03-07 weekly - 1 0 0 0 0 0 0.000",
            ]
        )
    }

    @Test func `mrr_at_risk_by_month: renewal that is off, and a payment that failed, in the month they run out`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly | now -10 days | now +20 days | 10000 |
            b1 | b | monthly | now -10 days | now +20 days | 10000 |   # renewal is off
            c1 | c | monthly | now -10 days | now +20 days | 10000 |   # nothing is known of its renewal
            d1 | d | monthly | now -32 days | now -2 days  | 10000 |   # in its grace period
            e1 | e | monthly | now -32 days | now -2 days  | 10000 |   # retried without one: no MRR any more
            f1 | f | monthly | now -2 days  | now +5 days  | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            """
        )
        try await world.renewal(
            """
            a | now -9 days | auto_renew_status=1
            b | now -9 days | auto_renew_status=0
            d | now -1 days | auto_renew_status=1, is_in_billing_retry_period=true, grace_period_expires_date=now +20 days
            e | now -1 days | auto_renew_status=1, is_in_billing_retry_period=true
            f | now -1 days | auto_renew_status=0
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT product_id, storefront, currency, sum(subscriptions) AS subscriptions, sum(mrr_milliunits) AS mrr,
                       sum(will_not_renew) AS off, sum(will_not_renew_mrr_milliunits) AS off_mrr, sum(in_grace_period) AS grace,
                       sum(in_grace_period_mrr_milliunits) AS grace_mrr, sum(at_risk_mrr_milliunits) AS risk,
                       sum(renewal_unknown) AS unknown, sum(at_risk_mrr_amount) AS amount
                  FROM mrr_at_risk_by_month GROUP BY 1, 2, 3
                """
            ) == ["monthly USA USD 4 40000 1 10000 1 10000 20000 1 20.000"]
        )
        #expect(
            try await world.rows(
                """
                SELECT month FROM mrr_at_risk_by_month EXCEPT
                SELECT date_trunc('month', ends_at AT TIME ZONE 'UTC')::date FROM current_subscriptions
                """
            ) == []
        )
    }

    @Test func `refund_requests_by_month: what customers asked for, and what Apple decided`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | - | coins | 2025-02-10 | - | 1000 |
            b1 | - | coins | 2025-02-10 | - | 1000 |
            c1 | - | coins | 2025-02-10 | - | 1000 |
            d1 | - | coins | 2025-02-10 | - | 1000 |
            e1 | - | coins | 2025-02-10 | - | 1000 |
            f1 | - | coins | 2025-02-10 | - | 1000 |
            """
        )
        try await world.notify(
            """
            n1  | CONSUMPTION_REQUEST | - | 2025-03-01 | a1 |
            n2  | REFUND              | - | 2025-03-03 | a1 |
            n3  | CONSUMPTION_REQUEST | - | 2025-03-02 | b1 |
            n4  | REFUND_DECLINED     | - | 2025-03-03 | b1 |
            n5  | CONSUMPTION_REQUEST | - | 2025-03-02 | c1 |
            n6  | REFUND              | - | 2025-03-03 | c1 |
            n7  | REFUND_REVERSED     | - | 2025-03-10 | c1 |   # a refund that Apple took back
            n8  | CONSUMPTION_REQUEST | - | 2025-03-31 | d1 |   # nothing decided
            n9  | REFUND              | - | 2025-04-02 | e1 |   # Apple did not ask
            n10 | REFUND_DECLINED     | - | 2025-04-02 | f1 |
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, product_id, requests, refunded, declined, reversed, pending, refunded_rate,
                       requested_milliunits, requested_amount, date_part('day', median_time_to_decision) AS days, refunded_without_request, declined_without_request
                  FROM refund_requests_by_month ORDER BY 1
                """
            ) == ["03 coins 4 1 1 1 1 0.3333 4000 4.000 2 0 0", "04 coins 0 0 0 0 0 - 0 0.000 - 1 1"]
        )
    }
}
