import Postgres
import TestSupport
import Testing

/// Figures by definitions that users of other products expect, in addition to the figures of the other views.
@Suite(.migratedDatabase)
struct DefinitionViewTests {
    @Test
    func `subscription_movement_by_day: every expiry and every return counts on its day, a renewal in time never does`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | weekly  | 2025-03-03 | 2025-03-10 | 2000  |
            a2 | a | weekly  | 2025-03-10 | 2025-03-17 | 2000  | transaction_reason=RENEWAL  # goes on
            a3 | a | weekly  | 2025-03-20 | 2025-03-27 | 2000  |                             # bought again after three days
            b1 | b | weekly  | 2025-03-03 | 2025-03-10 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            b2 | b | weekly  | 2025-03-10 | 2025-03-17 | 2000  | transaction_reason=RENEWAL  # a trial that converted is new
            c1 | c | weekly  | 2025-03-03 | 2025-03-10 | 2000  | is_upgraded=true
            c2 | c | monthly | 2025-03-05 | 2025-04-05 | 10000 |                             # upgraded
            d1 | d | weekly  | 2025-03-03 | 2025-03-10 | 2000  | revocation_date=2025-03-06  # refunded
            e1 | e | weekly  | 2025-03-03 | 2025-03-10 | 2000  | in_app_ownership_type=FAMILY_SHARED
            f1 | f | weekly  | 2025-03-03 | -          | 2000  | type=Auto-Renewable Subscription
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(day, 'MM-DD') AS d, product_id, new, resubscribed, expired, churned, switched_in, switched_out
                  FROM subscription_movement_by_day ORDER BY 1, 2
                """
            ) == [
                "03-03 weekly 3 0 0 0 0 0",  // a, c, d
                "03-05 monthly 0 0 0 0 1 0",  // c
                "03-05 weekly 0 0 0 0 0 1",
                "03-06 weekly 0 0 1 1 0 0",  // d
                "03-10 weekly 1 0 0 0 0 0",  // b; a goes on
                "03-17 weekly 0 0 2 2 0 0",  // a, b
                "03-20 weekly 0 1 0 -1 0 0",  // a is back
                "03-27 weekly 0 0 1 1 0 0",
                "04-05 monthly 0 0 1 1 0 0",
            ]
        )
        // Weeks are sums of days: the first two weeks of the month lose one subscription, and none returns.
        #expect(
            try await world.answer(
                """
                SELECT to_char(date_trunc('week', day), 'MM-DD') AS week, sum(new) AS n, sum(churned) AS churned FROM subscription_movement_by_day
                 WHERE product_id = 'weekly' GROUP BY 1 ORDER BY 1
                """
            ) == ["03-03 3 1", "03-10 1 0", "03-17 0 1", "03-24 0 1"]
        )
    }

    @Test func `retention_by_renewal: how many subscriptions whose period is over were paid again`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly | 2025-01-03   | 2025-02-03   | 10000 |
            a2 | a | monthly | 2025-02-03   | 2025-03-03   | 10000 | transaction_reason=RENEWAL
            a3 | a | monthly | 2025-03-09   | 2025-04-09   | 10000 | transaction_reason=RENEWAL  # recovered after a gap: a renewal
            b1 | b | monthly | 2025-01-03   | 2025-01-10   | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            b2 | b | monthly | 2025-01-10   | 2025-02-10   | 10000 | transaction_reason=RENEWAL  # the first payment of b
            b3 | b | monthly | 2025-05-10   | 2025-06-10   | 10000 |                             # bought again: no renewal
            c1 | c | monthly | now -10 days | now +20 days | 10000 |                             # still runs: not due
            """
        )
        #expect(
            try await world.answer(
                "SELECT product_id, period, payment_number, subscriptions, due, renewed, retention_rate FROM retention_by_renewal ORDER BY 3"
            ) == ["monthly P1M 1 3 2 1 0.5000", "monthly P1M 2 2 2 1 0.5000", "monthly P1M 3 1 1 0 0.0000"]
        )
    }

    @Test
    func `trial conversions count apart from renewals, and trials that will not renew apart from trials that will`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly | 2025-01-03  | 2025-01-10  | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            a2 | a | monthly | 2025-01-10  | 2025-02-10  | 10000 | transaction_reason=RENEWAL  # a conversion, to Apple a renewal
            a3 | a | monthly | 2025-02-10  | 2025-03-10  | 10000 | transaction_reason=RENEWAL
            b1 | b | monthly | 2025-01-10  | 2025-02-10  | 10000 |
            b2 | b | monthly | 2025-02-10  | 2025-03-10  | 10000 | transaction_reason=RENEWAL
            t1 | t | monthly | now -2 days | now +5 days | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            u1 | u | monthly | now -2 days | now +5 days | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            """
        )
        try await world.renewal(
            """
            t | now -1 days | auto_renew_status=0
            u | now -1 days | auto_renew_status=1
            """
        )
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, renewals, trial_conversions FROM renewals_and_churn_by_month WHERE renewals > 0 ORDER BY 1"
            ) == ["01 1 1", "02 2 0"]
        )
        #expect(
            try await world.answer(
                "SELECT status, trials, trials_will_not_renew FROM subscriptions_by_status WHERE trials > 0"
            )
                == ["active 2 1"]
        )
    }

    @Test func `current_subscriptions: the next payment and the next commitment are renewed apart`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | yearly | now -10 days | now +20 days | 10000 | billing_plan_type=MONTHLY
            b1 | b | yearly | now -10 days | now +20 days | 10000 |
            """
        )
        try await world.renewal(
            """
            a | now -1 days | auto_renew_status=1, commitment_auto_renew_status=0
            b | now -1 days | auto_renew_status=1
            """
        )
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, will_renew, commitment_will_renew FROM current_subscriptions ORDER BY 1"
            )
                == ["a t f", "b t -"]
        )
    }

    @Test func `offer_redemptions_by_month: a second redemption counts, a second period of the same one does not`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | monthly | 2025-01-10 | 2025-02-10 | 5000  | offer_type=4, offer_identifier=back, offer_discount_type=PAY_AS_YOU_GO
            a2 | a | monthly | 2025-02-10 | 2025-03-10 | 5000  | offer_type=4, offer_identifier=back, offer_discount_type=PAY_AS_YOU_GO
            a3 | a | monthly | 2025-03-10 | 2025-04-10 | 10000 | transaction_reason=RENEWAL
            a4 | a | monthly | 2025-08-10 | 2025-09-10 | 5000  | offer_type=4, offer_identifier=back, offer_discount_type=PAY_AS_YOU_GO
            b1 | b | monthly | 2025-01-10 | 2025-01-17 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            b2 | b | monthly | 2025-01-17 | 2025-02-17 | 5000  | offer_type=2, offer_identifier=loyal
            """
        )
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, replace(offer, ' ', '_'), offer_identifier, redemptions FROM offer_redemptions_by_month ORDER BY 1, 2"
            ) == ["01 free_trial - 1", "01 promotional loyal 1", "01 win-back back 1", "08 win-back back 1"]
        )
    }
}
