import Postgres
import TestSupport
import Testing

/// Rules that the views about subscriptions share, each with the dates of a customer for whom a view was wrong.
@Suite(.migratedDatabase)
struct MetricRuleTests {
    /// Every month of `mrr_movement_by_month` in which something moved or was active, in thousands.
    static let movement = """
        SELECT to_char(month, 'YY-MM') AS m, opening_milliunits / 1000, new_milliunits / 1000, reactivation_milliunits / 1000,
               expansion_milliunits / 1000, -contraction_milliunits / 1000, -churn_milliunits / 1000, closing_milliunits / 1000,
               new_subscriptions, reactivated_subscriptions, churned_subscriptions
          FROM mrr_movement_by_month ORDER BY month
        """

    @Test
    func `mrr_movement_by_month: a subscription that was paid for in an earlier month is a reactivation, not new`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | news.weekly | 2025-03-05 | 2025-03-12 | 2000 |                             # lapsed before March was over
            a2 | a | news.weekly | 2025-05-20 | 2025-05-27 | 2000 |                             # bought again
            a3 | a | news.weekly | 2025-05-27 | 2025-06-03 | 2000 | transaction_reason=RENEWAL
            b1 | b | news.weekly | 2025-05-02 | 2025-05-09 | 1000 |                             # lapsed and came back in the month
            b2 | b | news.weekly | 2025-05-28 | 2025-06-04 | 1000 |                             # of the first payment: new
            c1 | c | news.weekly | 2025-04-05 | 2025-04-12 | 0    | offer_type=1, offer_discount_type=FREE_TRIAL
            c2 | c | news.weekly | 2025-05-28 | 2025-06-04 | 5000 |                             # a trial is no payment: new
            """
        )
        #expect(
            try await world.answer(Self.movement) == [
                "25-05 0 24 8 0 0 0 32 2 1 0",
                "25-06 32 0 0 0 0 -32 0 0 0 3",
            ]
        )
    }

    @Test func `a grace period stays with its period: a month that is over is the same before and after the recovery`()
        async throws
    {
        let world = try await TestLedger()
        // 1757808000000 is 2025-09-14, 16 days after the period.
        try await world.buy("a1 | a | plus.monthly | 2025-07-29 | 2025-08-29 | 10000 |")
        try await world.notify(
            """
            n1 | DID_FAIL_TO_RENEW | GRACE_PERIOD | 2025-08-29 | a1 | original_transaction_id=a, payload={"data": {"signedRenewalInfo": {"gracePeriodExpiresDate": 1757808000000}}}
            """
        )
        try await world.renewal(
            "a | 2025-08-29 | is_in_billing_retry_period=true, grace_period_expires_date=2025-09-14"
        )
        let august = "SELECT * FROM (\(Self.movement)) every_month WHERE m <= '25-08' ORDER BY m"
        let during = try await world.answer(august)
        #expect(during == ["25-07 0 10 0 0 0 0 10 1 0 0", "25-08 10 0 0 0 0 0 10 0 0 0"])

        // Recovered on 3 September; the renewal info of the new period has no grace date.
        try await world.run("DELETE FROM renewals")
        try await world.renewal("a | 2025-09-03 | auto_renew_status=1")
        try await world.buy("a2 | a | plus.monthly | 2025-09-03 | 2025-10-03 | 10000 | transaction_reason=RENEWAL")
        try await world.notify("n2 | DID_RENEW | BILLING_RECOVERY | 2025-09-03 | a2 | original_transaction_id=a")
        #expect(try await world.answer(august) == during)
        #expect(
            try await world.answer(Self.movement) == during + [
                "25-09 10 0 0 0 0 0 10 0 0 0", "25-10 10 0 0 0 0 -10 0 0 0 1",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, to_char(ends_at AT TIME ZONE 'UTC', 'MM-DD') AS ends, to_char(grace_until AT TIME ZONE 'UTC', 'MM-DD') AS grace, ended_by
                  FROM subscription_periods ORDER BY 1
                """
            ) == ["a1 09-03 09-14 expiry", "a2 10-03 - expiry"]
        )
        #expect(
            try await world.answer(
                "SELECT to_char(day, 'MM-DD') AS d, active FROM active_subscriptions_by_day WHERE day IN ('2025-08-29', '2025-09-02', '2025-09-03') ORDER BY 1"
            ) == ["08-29 1", "09-02 1", "09-03 1"]
        )
        // It is a recovered payment all the same.
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, failed, recovered, lost FROM billing_recovery_by_month"
            )
                == ["08 1 1 0"]
        )
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, renewals_after_a_gap, churned FROM renewals_and_churn_by_month WHERE month < '2025-10-01' ORDER BY 1"
            ) == ["08 0 0", "09 1 0"]
        )
    }

    @Test func `a grace date that is no number, or out of range, is ignored and fails no query`() async throws {
        let world = try await TestLedger()
        try await world.buy("a1 | a | plus.monthly | 2025-07-29 | 2025-08-29 | 10000 |")
        for (number, date) in [#""soon""#, "1e300", "-5", "null", "{}", "1757808000000.5"].enumerated() {
            try await world.notify(
                """
                n\(number) | DID_FAIL_TO_RENEW | GRACE_PERIOD | 2025-08-29 | a1 | original_transaction_id=a, payload={"data": {"signedRenewalInfo": {"gracePeriodExpiresDate": \(date)}}}
                """
            )
        }
        #expect(
            try await world.answer(
                "SELECT to_char(grace_until AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS g FROM subscription_periods"
            )
                == ["2025-09-14"]
        )
    }

    @Test func `an extended month is a month: MRR neither halves nor moves`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-01-10 | 2025-02-10 | 10000 |
            a2 | a | plus.monthly | 2025-02-10 | 2025-04-09 | 10000 | transaction_reason=RENEWAL  # extended by 30 days
            a3 | a | plus.monthly | 2025-04-09 | 2025-05-09 | 10000 | transaction_reason=RENEWAL
            """
        )
        #expect(
            try await world.answer(Self.movement) == [
                "25-01 0 10 0 0 0 0 10 1 0 0", "25-02 10 0 0 0 0 0 10 0 0 0", "25-03 10 0 0 0 0 0 10 0 0 0",
                "25-04 10 0 0 0 0 0 10 0 0 0", "25-05 10 0 0 0 0 -10 0 0 0 1",
            ]
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, period, period_by_length FROM subscription_periods ORDER BY 1"
            )
                == ["a1 P1M P1M", "a2 P1M P2M", "a3 P1M P1M"]
        )
    }

    @Test func `after a mass extension the periods that were not extended decide the product's period`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-01-10 | 2025-03-12 | 10000  |  # extended by 30 days,
            b1 | b | plus.monthly | 2025-01-12 | 2025-03-14 | 10000  |  # as everybody
            c1 | c | plus.monthly | 2025-01-14 | 2025-03-16 | 10000  |
            d1 | d | plus.monthly | 2024-06-14 | 2024-07-14 | 10000  |  # who left before
            e1 | e | new.product  | 2025-01-10 | 2025-03-12 | 10000  |  # no period of this product was ever seen whole
            f1 | f | plus.yearly  | 2025-01-10 | 2025-04-10 | 10000  | billing_plan_type=MONTHLY  # a commitment paid by the month
            g1 | g | plus.monthly | 2025-01-10 | 2025-03-12 | 5000   | offer_type=2, offer_discount_type=PAY_AS_YOU_GO
            h1 | h | plus.monthly | 2025-01-10 | 2025-03-12 | 5000   | offer_type=2, offer_discount_type=PAY_UP_FRONT
            i1 | i | plus.monthly | 2025-01-10 | 2025-03-12 | 15000  | offer_type=2, offer_discount_type=PAY_UP_FRONT  # not extended
            """
        )
        for name in ["a", "b", "c", "e", "f", "g", "h"] {
            try await world.notify(
                "n\(name) | RENEWAL_EXTENDED | - | 2025-01-20 | \(name)1 | original_transaction_id=\(name)"
            )
        }
        #expect(
            try await world.answer(
                "SELECT transaction_id, period, mrr_milliunits, is_extended FROM subscription_periods ORDER BY 1"
            )
                == [
                    "a1 P1M 10000 t", "b1 P1M 10000 t", "c1 P1M 10000 t", "d1 P1M 10000 f", "e1 - - t",
                    "f1 P1M 10000 t",
                    "g1 P1M 5000 t", "h1 - - t", "i1 P2M 7500 f",
                ]
        )
        #expect(try await world.rows("SELECT product_id, period FROM product_periods") == ["(plus.monthly,P1M)"])
    }

    @Test func `a payment recovered late in the grace period moves the MRR of no commitment and of no offer`()
        async throws
    {
        let offer = "offer_type=1, offer_discount_type=PAY_AS_YOU_GO"
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.yearly  | 2025-01-10       | 2025-02-10       | 9990 | billing_plan_type=MONTHLY
            a2 | a | plus.yearly  | 2025-02-24 06:00 | 2025-03-10       | 9990 | billing_plan_type=MONTHLY, transaction_reason=RENEWAL  # two weeks left
            b1 | b | new.monthly  | 2025-01-10       | 2025-02-10       | 4990 | \(offer)
            b2 | b | new.monthly  | 2025-02-24 06:00 | 2025-03-10       | 4990 | \(offer), transaction_reason=RENEWAL
            c1 | c | plus.monthly | 2025-01-03       | 2025-01-10       | 0    | offer_type=1, offer_discount_type=FREE_TRIAL
            c2 | c | plus.monthly | 2025-02-03 06:00 | 2025-02-10       | 4990 | offer_type=3, offer_discount_type=PAY_AS_YOU_GO, transaction_reason=RENEWAL
            d1 | d | plus.monthly | 2025-01-10       | 2025-02-10       | 9990 |                                         # the product's period
            e1 | e | plus.yearly  | 2025-01-10       | 2025-02-10       | 4990 | \(offer), billing_plan_type=MONTHLY
            e2 | e | plus.yearly  | 2025-03-02 06:00 | 2025-03-10       | 4990 | \(offer), billing_plan_type=MONTHLY, transaction_reason=RENEWAL
            f1 | f | plus.weekly  | 2025-01-01       | 2025-01-08       | 1000 | \(offer)
            f2 | f | plus.weekly  | 2025-01-29       | 2025-02-05       | 1000 | \(offer), transaction_reason=RENEWAL  # after three weeks without service
            g1 | g | plus.yearly  | 2025-01-10 00:00 | 2025-01-10 00:05 | 9990 | billing_plan_type=MONTHLY              # the sandbox
            g2 | g | plus.yearly  | 2025-01-10 00:05 | 2025-01-10 00:10 | 9990 | billing_plan_type=MONTHLY, transaction_reason=RENEWAL
            """
        )
        let shown = try await world.answer(
            "SELECT transaction_id, period, mrr_milliunits FROM subscription_periods WHERE period_number = 2 ORDER BY 1"
        )
        #expect(
            shown == ["a2 P1M 9990", "b2 P1M 4990", "c2 P1M 4990", "e2 P1M 4990", "f2 P1W 4000", "g2 - -"]
        )
    }

    @Test func `renewal info that is older than a period says nothing of its grace period`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.weekly | now -19 days | now -12 days | 2000 |
            a2 | a | plus.weekly | now -10 days | now -3 days  | 2000 | transaction_reason=RENEWAL
            b1 | b | plus.weekly | now -10 days | now -3 days  | 2000 |
            """
        )
        try await world.renewal(
            """
            a | now -11 days | is_in_billing_retry_period=true, grace_period_expires_date=now +5 days  # of the period before
            b | now -3 days  | is_in_billing_retry_period=true, grace_period_expires_date=now +5 days
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT c.original_transaction_id, replace(status, ' ', '_'), p.grace_until IS NOT NULL AS grace, p.ends_at > now() AS runs
                  FROM current_subscriptions c JOIN subscription_periods p USING (app_id, transaction_id) ORDER BY 1
                """
            ) == ["a expired f f", "b grace_period t t"]
        )
        #expect(
            try await world.answer(
                "SELECT closing_subscriptions FROM mrr_movement_by_month WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date"
            ) == ["1"]
        )
        #expect(
            try await world.answer(
                "SELECT active FROM active_subscriptions_by_day WHERE day = (now() AT TIME ZONE 'UTC')::date"
            )
                == ["1"]
        )
    }

    @Test func `recent renewal info says whether Apple still retries, however long ago the period ended`() async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.yearly | now -101 days | now -71 days | 10000 | billing_plan_type=MONTHLY  # Apple said so three days ago
            b1 | b | plus.yearly | now -101 days | now -71 days | 10000 | billing_plan_type=MONTHLY  # Apple has stopped
            c1 | c | plus.yearly | now -101 days | now -71 days | 10000 | billing_plan_type=MONTHLY  # said so 70 days ago, nothing since
            d1 | d | plus.yearly | now -40 days  | now -10 days | 10000 |                            # an ordinary retry
            """
        )
        try await world.renewal(
            """
            a | now -3 days  | is_in_billing_retry_period=true
            b | now -3 days  | is_in_billing_retry_period=false, expiration_intent=2
            c | now -70 days | is_in_billing_retry_period=true
            d | now -10 days | is_in_billing_retry_period=true
            """
        )
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, replace(status, ' ', '_') FROM current_subscriptions ORDER BY 1"
            )
                == ["a billing_retry", "b expired", "c expired", "d billing_retry"]
        )
        #expect(
            try await world.answer("SELECT sum(failed), sum(still_tried), sum(lost) FROM billing_recovery_by_month")
                == ["4 2 2"]
        )
    }

    @Test func `a period without an expiresDate is unknown in every view, and active in none`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-01-10 | -          | 10000 | type=Auto-Renewable Subscription
            b1 | b | plus.monthly | 2025-01-10 | -          | 10000 | type=Auto-Renewable Subscription
            b2 | b | plus.monthly | 2025-04-10 | 2025-05-10 | 10000 | transaction_reason=RENEWAL
            c1 | c | plus.monthly | 2025-01-10 | -          | 10000 | type=Auto-Renewable Subscription, revocation_date=2025-03-10
            """
        )
        try await world.renewal(
            "a | now -1 days | is_in_billing_retry_period=true, grace_period_expires_date=now +5 days"
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, ends_at, grace_until, ended_by FROM subscription_periods ORDER BY 1"
            )
                == ["a1 - - -", "b1 - - -", "b2 2025-05-10 00:00:00+00 - expiry", "c1 - - -"]
        )
        #expect(try await world.answer("SELECT transaction_id, month FROM subscription_months") == ["b2 2025-04-01"])
        #expect(
            try await world.answer(
                "SELECT day FROM active_subscriptions_by_day WHERE active > 0 AND day NOT BETWEEN '2025-04-10' AND '2025-05-09'"
            ) == []
        )
        #expect(
            try await world.answer("SELECT original_transaction_id, status FROM current_subscriptions ORDER BY 1")
                == ["a unknown", "b expired", "c revoked"]
        )
        #expect(try await world.answer("SELECT sum(mrr_milliunits) FROM subscriptions_by_status") == ["0"])
        // The first payment was in January all the same.
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, new_subscriptions, reactivated_subscriptions FROM mrr_movement_by_month WHERE closing_subscriptions > 0"
            )
                == ["04 0 1"]
        )
    }
}
