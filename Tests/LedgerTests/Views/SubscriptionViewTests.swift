import Postgres
import TestSupport
import Testing

/// The views about subscriptions, against worlds small enough to be worked out by hand.
@Suite(.migratedDatabase)
struct SubscriptionViewTests {
    /// Nine subscriptions of 2025, each with a different fate.
    ///
    /// A price of 10.00 a month or 120.00 a year is an MRR of 10.00; 2.00 a week is an MRR of 8.00.
    static let fates = """
        a1 | a | plus.monthly    | 2025-01-10 | 2025-02-10 | 10000  |                            # three months,
        a2 | a | plus.monthly    | 2025-02-10 | 2025-03-10 | 10000  | transaction_reason=RENEWAL #
        a3 | a | plus.monthly    | 2025-03-10 | 2025-04-10 | 10000  | transaction_reason=RENEWAL # then cancelled
        b1 | b | plus.yearly     | 2025-01-05 | 2025-01-12 | 0      | offer_type=1, offer_discount_type=FREE_TRIAL
        b2 | b | plus.yearly     | 2025-01-12 | 2026-01-12 | 120000 | transaction_reason=RENEWAL # a trial that converted
        c1 | c | news.weekly     | 2025-01-27 | 2025-02-03 | 2000   | is_upgraded=true           # upgraded after 3 days
        c2 | c | news.monthly    | 2025-01-30 | 2025-02-28 | 10000  |
        d1 | d | plus.monthly    | 2025-01-01 | 2025-02-01 | 10000  |                            # active to the last instant of January
        d2 | d | plus.monthly    | 2025-02-01 | 2025-03-01 | 10000  | transaction_reason=RENEWAL, revocation_date=2025-02-20, revocation_reason=1
        e1 | e | plus.monthly    | 2025-01-15 | 2025-02-15 | 9000   | currency=EUR, storefront=DEU
        e2 | e | plus.monthly    | 2025-02-15 | 2025-03-15 | 10000  | transaction_reason=RENEWAL # moved from Germany to the USA
        f1 | f | plus.monthly    | 2025-01-02 | 2025-02-02 | 10000  | in_app_ownership_type=FAMILY_SHARED
        g1 | g | premium.monthly | 2025-01-20 | 2025-02-20 | 20000  |                            # left,
        g2 | g | plus.monthly    | 2025-04-05 | 2025-05-05 | 10000  |                            # came back for half,
        g3 | g | plus.monthly    | 2025-05-05 | 2025-06-05 | 6000   | transaction_reason=RENEWAL, offer_type=2, offer_identifier=loyal
        g4 | g | plus.monthly    | 2025-06-05 | 2025-07-05 | 10000  | transaction_reason=RENEWAL # and left for good
        h1 | h | plus.monthly    | 2025-01-03 | 2025-02-03 | 0      | offer_type=3, offer_identifier=GIFT, offer_discount_type=PAY_UP_FRONT
        h2 | h | plus.monthly    | 2025-02-03 | 2025-03-03 | 10000  | transaction_reason=RENEWAL # a gift that was followed by a payment
        i1 | i | plus.monthly    | 2025-01-08 | 2025-02-08 | -      | currency=-                 # paid, Apple does not say how much
        """

    /// What Apple still tells of why they left.
    static func tellWhy(in world: TestLedger) async throws {
        try await world.notify(
            """
            n1 | EXPIRED | VOLUNTARY      | 2025-04-10 | a3 | original_transaction_id=a
            n2 | EXPIRED | PRICE_INCREASE | 2025-03-03 | h2 | original_transaction_id=h
            """
        )
        try await world.renewal(
            """
            e | 2025-05-20 | expiration_intent=2, auto_renew_status=0
            b | 2025-01-11 | expiration_intent=1                      # signed before the year began: says nothing of its end
            """
        )
    }

    @Test func `subscription_periods: stretches never overlap, and each says what ended it and what it brings a month`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.fates)
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, period_number, to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS ends, replace(ended_by, ' ', '_'),
                       period, mrr_milliunits, is_trial, is_paid
                  FROM subscription_periods WHERE original_transaction_id IN ('b', 'c', 'd', 'f', 'h', 'i') ORDER BY 1
                """
            ) == [
                "b1 1 2025-01-12 expiry P1W - t f",
                "b2 2 2026-01-12 expiry P1Y 10000 f t",
                "c1 1 2025-01-30 upgrade P1W 8000 f t",
                "c2 2 2025-02-28 expiry P1M 10000 f t",
                "d1 1 2025-02-01 expiry P1M 10000 f t",
                "d2 2 2025-02-20 refund P1M 10000 f t",
                "f1 1 2025-02-02 expiry P1M - f f",
                "h1 1 2025-02-03 expiry P1M - f f",
                "h2 2 2025-03-03 expiry P1M 10000 f t",
                "i1 1 2025-02-08 expiry P1M - f t",
            ]
        )
    }

    @Test func `subscription_periods: the edges of length, grace, refunds and what the user says`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            p1 | p | plus.monthly | 2025-03-10 | 2025-04-10 | 10000 |
            p2 | p | plus.monthly | 2025-04-14 | 2025-05-10 | 10000 | transaction_reason=RENEWAL   # recovered in the grace period: 26 days
            q1 | q | plus.monthly | 2025-03-10 | 2025-04-10 | 10000 | revocation_date=2025-06-01   # refunded when it had run out
            r1 | r | ten.days     | 2025-03-10 | 2025-03-20 | 10000 |                              # a length nobody sells
            s1 | s | plus.yearly  | 2025-03-10 | 2025-04-10 | 10000 | billing_plan_type=MONTHLY    # a year paid by the month
            t1 | t | plus.yearly  | 2025-03-10 | 2025-06-10 | 15000 | offer_type=1, offer_discount_type=PAY_UP_FRONT # three months up front
            u1 | u | plus.yearly  | 2025-03-10 | 2026-05-20 | 60000 |                              # prolonged by Apple
            v1 | v | plus.monthly | 2025-03-10 | -          | 10000 | type=Auto-Renewable Subscription
            w1 | w | plus.monthly | 2025-03-10 | 2025-04-10 | 10000 |
            x1 | x | plus.monthly | 2025-03-10 | 2025-04-10 | 10000 | in_app_ownership_type=FAMILY_SHARED, revocation_date=2025-03-20, revocation_type=FAMILY_REVOKE
            y1 | y | plus.monthly | 2025-03-10 | 2025-04-10 | 10000 | revocation_date=2025-03-01   # dated before the purchase
            z1 | z | coins        | 2025-03-10 | -          | 990   |                              # no subscription
            """
        )
        try await world.renewal("w | 2025-04-10 | grace_period_expires_date=2025-04-26")
        try await world.renewal(
            "p | 2025-04-10 | grace_period_expires_date=2025-04-26  # of the first stretch, which is not the last"
        )
        try await world.run("INSERT INTO products (app_id, product_id, period) VALUES (1, 'plus.yearly', 'P1Y')")
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS ends, replace(ended_by, ' ', '_'), period, mrr_milliunits
                  FROM subscription_periods ORDER BY 1
                """
            ) == [
                "p1 2025-04-10 expiry P1M 10000",
                "p2 2025-05-10 expiry P1M 10000",
                "q1 2025-04-10 expiry P1M 10000",
                "r1 2025-03-20 expiry - -",
                "s1 2025-04-10 expiry P1M 10000",
                "t1 2025-06-10 expiry P3M 5000",
                "u1 2026-05-20 expiry P1Y 5000",
                "v1 - - P1M 10000",  // the product has a period; when this one ends is unknown
                "w1 2025-04-26 expiry P1M 10000",
                "x1 2025-03-20 family_revocation P1M -",
                "y1 2025-03-10 refund P1M 10000",
            ]
        )
    }

    @Test func `mrr_by_month: what was active in the last instant of the month, by product and currency`() async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.fates)
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, product_id, period, storefront, currency, active_subscriptions, without_mrr, mrr_milliunits
                  FROM mrr_by_month WHERE month <= '2025-02-01' ORDER BY 1, 2, 4, 5
                """
            ) == [
                "01 news.monthly P1M USA USD 1 0 10000",  // c2
                "01 plus.monthly P1M DEU EUR 1 0 9000",  // e1
                "01 plus.monthly P1M USA USD 2 0 20000",  // a1, d1
                "01 plus.monthly P1M USA - 1 1 0",  // i1
                "01 plus.yearly P1Y USA USD 1 0 10000",  // b2
                "01 premium.monthly P1M USA USD 1 0 20000",  // g1
                "02 plus.monthly P1M USA USD 3 0 30000",  // a2, e2, h2
                "02 plus.yearly P1Y USA USD 1 0 10000",
            ]
        )
        // Purchases of the sandbox are another app's, and its months take minutes.
        try await world.run("INSERT INTO apps (bundle_id, environment) VALUES ('com.example.game', 'Sandbox')")
        let sandbox = Int(try await world.value("SELECT app_id FROM apps WHERE environment = 'Sandbox'") ?? "") ?? 0
        try await world.buy("a1 | a | plus.monthly | 2025-01-31 23:58 | 2025-02-01 00:03 | 10000 |", app: sandbox)
        #expect(
            try await world.answer(
                "SELECT app_id = 1, period, sum(active_subscriptions), sum(mrr_milliunits) FROM mrr_by_month WHERE month = '2025-01-01' GROUP BY 1, 2 ORDER BY 1, 2"
            ) == ["f - 1 0", "t P1M 6 59000", "t P1Y 1 10000"]
        )
    }

    @Test func `mrr_movement_by_month: every month closes with what it opened with and what moved`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.fates)
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'YY-MM') AS m, currency, opening_milliunits / 1000 AS o, new_milliunits / 1000, reactivation_milliunits / 1000,
                       expansion_milliunits / 1000, -contraction_milliunits / 1000, -churn_milliunits / 1000,
                       (switched_in_milliunits - switched_out_milliunits) / 1000, closing_milliunits / 1000,
                       opening_subscriptions, churned_subscriptions, closing_subscriptions
                  FROM mrr_movement_by_month WHERE month <= '2025-08-01' OR month >= '2026-01-01' ORDER BY month, currency
                """
            ) == [
                "25-01 EUR 0 9 0 0 0 0 0 9 0 0 1",
                "25-01 USD 0 60 0 0 0 0 0 60 0 0 5",  // new: a 10, b 10, c 10, d 10, g 20
                "25-01 - 0 0 0 0 0 0 0 0 0 0 1",  // i, whose price is unknown
                "25-02 EUR 9 0 0 0 0 0 -9 0 1 0 0",  // e pays in USD now
                "25-02 USD 60 10 0 0 0 -40 10 40 5 3 4",  // new: h; gone: c 10, d 10, g 20
                "25-02 - 0 0 0 0 0 0 0 0 1 1 0",
                "25-03 USD 40 0 0 0 0 -20 0 20 4 2 2",  // gone: e, h
                "25-04 USD 20 0 10 0 0 -10 0 20 2 1 2",  // g is back, a is gone
                "25-05 USD 20 0 0 0 -4 0 0 16 2 0 2",  // g pays 6 instead of 10
                "25-06 USD 16 0 0 4 0 0 0 20 2 0 2",
                "25-07 USD 20 0 0 0 0 -10 0 10 2 1 1",
                "25-08 USD 10 0 0 0 0 0 0 10 1 0 1",
                "26-01 USD 10 0 0 0 0 -10 0 0 1 1 0",  // b's year is over
            ]
        )
        let open = try await world.answer(
            """
            SELECT month FROM mrr_movement_by_month
             WHERE closing_milliunits <> opening_milliunits + new_milliunits + reactivation_milliunits + expansion_milliunits
                   - contraction_milliunits - churn_milliunits + switched_in_milliunits - switched_out_milliunits
                OR closing_subscriptions <> (SELECT coalesce(sum(active_subscriptions), 0) FROM mrr_by_month b
                                              WHERE b.month = mrr_movement_by_month.month
                                                AND b.currency IS NOT DISTINCT FROM mrr_movement_by_month.currency)
            """
        )
        #expect(open == [])
    }

    @Test func `mrr_movement_by_month: the current month has its state of now`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.yearly  | now -40 days  | now +325 days | 120000 |
            b1 | b | plus.monthly | now -1 second | now +30 days  | 10000  |
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT closing_milliunits, closing_subscriptions FROM mrr_movement_by_month
                 WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
                """
            ) == ["20000 2"]
        )
        #expect(
            try await world.answer(
                """
                SELECT active, periods_started FROM active_subscriptions_by_day WHERE day = (now() AT TIME ZONE 'UTC')::date ORDER BY 1, 2
                """
            )
                == ["1 0", "1 1"]
        )
    }

    @Test func `renewals_and_churn_by_month: each loss has one reason, unknown if no record has one`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.fates)
        try await Self.tellWhy(in: world)
        try await world.buy(
            """
            p1 | p | gap | 2025-03-10 | 2025-04-10 | 10000 |
            p2 | p | gap | 2025-04-14 | 2025-05-10 | 10000 | transaction_reason=RENEWAL   # recovered after four days
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'YY-MM') AS m, product_id, active_at_start, renewals, renewals_after_a_gap, churned, churned_voluntary AS v,
                       churned_billing AS b, churned_price AS p, churned_refund AS r, churned_unknown AS u, churn_rate
                  FROM renewals_and_churn_by_month WHERE month <= '2025-07-01' OR month >= '2026-01-01' ORDER BY month, product_id
                """
            ) == [
                "25-01 plus.yearly 0 1 0 0 0 0 0 0 0 -",  // b2: the trial renewed
                "25-02 news.monthly 1 0 0 1 0 0 0 0 1 1.0000",  // c
                "25-02 plus.monthly 4 4 0 2 0 0 0 1 1 0.5000",  // d refunded, i unknown
                "25-02 plus.yearly 1 0 0 0 0 0 0 0 0 0.0000",
                "25-02 premium.monthly 1 0 0 1 0 0 0 0 1 1.0000",  // g
                "25-03 plus.monthly 3 1 0 2 0 1 1 0 0 0.6667",  // e, h
                "25-03 plus.yearly 1 0 0 0 0 0 0 0 0 0.0000",
                "25-04 gap 1 1 1 0 0 0 0 0 0 0.0000",  // p
                "25-04 plus.monthly 1 0 0 1 1 0 0 0 0 1.0000",  // a cancelled
                "25-04 plus.yearly 1 0 0 0 0 0 0 0 0 0.0000",
                "25-05 gap 1 0 0 1 0 0 0 0 1 1.0000",
                "25-05 plus.monthly 1 1 0 0 0 0 0 0 0 0.0000",
                "25-05 plus.yearly 1 0 0 0 0 0 0 0 0 0.0000",
                "25-06 plus.monthly 1 1 0 0 0 0 0 0 0 0.0000",
                "25-06 plus.yearly 1 0 0 0 0 0 0 0 0 0.0000",
                "25-07 plus.monthly 1 0 0 1 0 0 0 0 1 1.0000",
                "25-07 plus.yearly 1 0 0 0 0 0 0 0 0 0.0000",
                "26-01 plus.yearly 1 0 0 1 0 0 0 0 1 1.0000",  // b
            ]
        )
    }

    @Test func `retention_cohorts: subscriptions first paid in a month and active at the end of a later one`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.fates)
        try await world.buy(
            """
            k1 | k | plus.monthly | 2025-01-04 | 2025-02-04 | 5000  | offer_type=1, offer_discount_type=PAY_AS_YOU_GO # an introductory price is no beginning
            k2 | k | plus.monthly | 2025-02-04 | 2025-03-04 | 10000 | transaction_reason=RENEWAL
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(cohort_month, 'MM') AS m, product_id, period, month_number, subscriptions, retained, retention_rate
                  FROM retention_cohorts WHERE month_number <= 4 AND product_id IN ('plus.monthly', 'premium.monthly') ORDER BY 1, 2, 4
                """
            ) == [
                "01 plus.monthly P1M 0 4 4 1.0000",  // a, d, e, i
                "01 plus.monthly P1M 1 4 2 0.5000",  // a, e
                "01 plus.monthly P1M 2 4 1 0.2500",  // a
                "01 plus.monthly P1M 3 4 0 0.0000",
                "01 plus.monthly P1M 4 4 0 0.0000",
                "01 premium.monthly P1M 0 1 1 1.0000",  // g, who comes back in April to another product
                "01 premium.monthly P1M 1 1 0 0.0000",
                "01 premium.monthly P1M 2 1 0 0.0000",
                "01 premium.monthly P1M 3 1 1 1.0000",
                "01 premium.monthly P1M 4 1 1 1.0000",
                "02 plus.monthly P1M 0 2 2 1.0000",  // h, k
                "02 plus.monthly P1M 1 2 0 0.0000",
                "02 plus.monthly P1M 2 2 0 0.0000",
                "02 plus.monthly P1M 3 2 0 0.0000",
                "02 plus.monthly P1M 4 2 0 0.0000",
            ]
        )
        // Only months that are over are shown: this one's cohort has no cell yet.
        try await world.buy("l1 | l | now.monthly | now -1 second | now +30 days | 10000 |")
        #expect(try await world.answer("SELECT * FROM retention_cohorts WHERE product_id = 'now.monthly'") == [])
    }

    @Test func `offer_conversion_by_month: trials and offers that a payment followed, that still run, that were lost`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.fates)
        try await world.buy(
            """
            t1 | t | plus.monthly | 2025-01-06 | 2025-01-13 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL # nothing came of it
            u1 | u | plus.monthly | 2025-01-06 | 2025-01-13 | 0     | offer_type=1                                # an older trial, known by its price
            u2 | u | plus.monthly | 2025-01-13 | 2025-02-13 | 10000 | transaction_reason=RENEWAL, revocation_date=2025-01-20 # converted, refunded later
            v1 | v | plus.monthly | 2025-01-06 | 2025-02-06 | 5000  | offer_type=1, offer_discount_type=PAY_AS_YOU_GO
            v2 | v | plus.monthly | 2025-02-06 | 2025-03-06 | 5000  | offer_type=1, offer_discount_type=PAY_AS_YOU_GO, transaction_reason=RENEWAL # the same offer goes on
            w1 | w | plus.monthly | now -1 days | now +6 days | 0   | offer_type=1, offer_discount_type=FREE_TRIAL
            x1 | x | plus.monthly | 2025-01-06 | 2025-01-13 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL, in_app_ownership_type=FAMILY_SHARED
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, product_id, replace(offer, ' ', '_'), offer_discount_type, offer_identifier, started, converted, running, lost, conversion_rate
                  FROM offer_conversion_by_month WHERE month < '2026-01-01' ORDER BY month, product_id, offer, offer_discount_type
                """
            ) == [
                "01 plus.monthly free_trial FREE_TRIAL - 1 0 0 1 0.0000",  // t
                "01 plus.monthly free_trial - - 1 1 0 0 1.0000",  // u
                "01 plus.monthly introductory PAY_AS_YOU_GO - 1 0 0 1 0.0000",  // v, once, and never without the offer
                "01 plus.monthly offer_code PAY_UP_FRONT GIFT 1 1 0 0 1.0000",  // h
                "01 plus.yearly free_trial FREE_TRIAL - 1 1 0 0 1.0000",  // b
                "05 plus.monthly promotional - loyal 1 1 0 0 1.0000",  // g3, then g4
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT started, converted, running, lost FROM offer_conversion_by_month WHERE month > '2026-01-01'
                """
            )
                == ["1 0 1 0"]
        )
    }

    @Test func `active_subscriptions_by_day: counts the last instant of the day, and days in a gap have rows`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.weekly | 2025-01-01       | 2025-01-04       | 0    | offer_type=1, offer_discount_type=FREE_TRIAL
            a2 | a | plus.weekly | 2025-01-04       | 2025-01-06 12:00 | 2000 | transaction_reason=RENEWAL
            b1 | b | plus.weekly | 2025-01-03 23:59 | 2025-01-06       | 2000 |  # ends at midnight: active to the end of the 5th
            f1 | f | plus.weekly | 2025-01-02       | 2025-01-09       | 0    | in_app_ownership_type=FAMILY_SHARED
            """
        )
        #expect(
            try await world.answer(
                "SELECT to_char(day, 'DD') AS d, active, trials, periods_started FROM active_subscriptions_by_day WHERE day <= '2025-01-07' ORDER BY day"
            ) == ["01 0 1 0", "02 0 1 0", "03 1 1 1", "04 2 0 1", "05 2 0 0", "06 0 0 0", "07 0 0 0"]
        )
    }

    @Test func `current_subscriptions: each state, and which of Apple's fields says so`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | now -40 days | now -10 days | 10000 |
            a2 | a | plus.monthly | now -10 days | now +20 days | 10000 | transaction_reason=RENEWAL # runs
            b1 | b | plus.monthly | now -40 days | now -10 days | 10000 |  # grace until in six days
            c1 | c | plus.monthly | now -40 days | now -10 days | 10000 |  # billing retry
            d1 | d | plus.monthly | now -99 days | now -69 days | 10000 |  # billing retry was reported 68 days ago: over by now
            e1 | e | plus.monthly | now -40 days | now -10 days | 10000 |  # cancelled
            f1 | f | plus.monthly | now -40 days | now -10 days | 10000 |  # renewal info is missing
            g1 | g | plus.monthly | now -10 days | now +20 days | 10000 | revocation_date=now -2 days # refunded
            h1 | h | plus.monthly | now -40 days | now -10 days | 10000 |  # the renewal info is older than the period
            i1 | i | plus.monthly | now -10 days | now +20 days | 0     | in_app_ownership_type=FAMILY_SHARED
            j1 | j | plus.monthly | now -10 days | -            | 10000 | type=Auto-Renewable Subscription
            """
        )
        try await world.renewal(
            """
            a | now -10 days | auto_renew_status=1, auto_renew_product_id=plus.yearly
            b | now -10 days | auto_renew_status=1, is_in_billing_retry_period=true, grace_period_expires_date=now +6 days
            c | now -9 days  | auto_renew_status=1, is_in_billing_retry_period=true, grace_period_expires_date=now -3 days
            d | now -68 days | auto_renew_status=1, is_in_billing_retry_period=true
            e | now -10 days | auto_renew_status=0, expiration_intent=1
            h | now -41 days | auto_renew_status=1, is_in_billing_retry_period=true
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT original_transaction_id, replace(status, ' ', '_'), split_part(known_from, ' ', 1), will_renew, auto_renew_product_id, expired_because,
                       periods, is_family_shared
                  FROM current_subscriptions ORDER BY 1
                """
            ) == [
                "a active expiresDate t plus.yearly - 2 f",
                "b grace_period gracePeriodExpiresDate t - - 1 f",
                "c billing_retry isInBillingRetryPeriod t - - 1 f",
                "d expired expiresDate t - - 1 f",
                "e expired expirationIntent f - voluntary 1 f",
                "f expired expiresDate - - - 1 f",
                "g revoked revocationDate - - - 1 f",
                "h expired expiresDate - - - 1 f",
                "i active expiresDate - - - 1 t",
                "j unknown nothing: - - - 1 f",
            ]
        )
        #expect(
            try await world.answer(
                "SELECT replace(status, ' ', '_'), subscriptions, paid, family_shared, will_renew, will_not_renew, mrr_milliunits FROM subscriptions_by_status ORDER BY 1"
            ) == [
                "active 2 1 1 1 0 10000", "billing_retry 1 1 0 1 0 0", "expired 4 4 0 1 1 0",
                "grace_period 1 1 0 1 0 10000",
                "revoked 1 1 0 0 0 0", "unknown 1 1 0 0 0 0",
            ]
        )
    }

    @Test func `billing_recovery_by_month: the outcome of each failed payment, in the month its period ended`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus | 2025-03-10 | 2025-04-10 | 10000 |
            a2 | a | plus | 2025-04-12 | 2025-05-10 | 10000 | transaction_reason=RENEWAL  # recovered after two days,
            a3 | a | plus | 2025-05-10 | 2025-06-10 | 10000 | transaction_reason=RENEWAL  # and then in time
            b1 | b | plus | 2025-03-20 | 2025-04-30 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            b2 | b | plus | 2025-05-04 | 2025-06-04 | 10000 | transaction_reason=RENEWAL  # a trial: four days, into the next month
            c1 | c | plus | 2025-03-10 | 2025-04-10 | 10000 |                             # lost, says a notification,
            c2 | c | plus | 2025-08-10 | 2025-09-10 | 10000 |                             # and bought again
            d1 | d | plus | 2025-03-10 | 2025-04-10 | 10000 |                             # lost, says renewal info
            e1 | e | plus | 2025-03-10 | 2025-04-10 | 10000 |                             # cancelled
            f1 | f | plus | 2025-03-10 | 2025-04-10 | 10000 | revocation_date=2025-03-20
            f2 | f | plus | 2025-04-10 | 2025-05-10 | 10000 | transaction_reason=RENEWAL  # a refund is no failed payment
            g1 | g | plus | 2025-03-10 | 2025-04-10 | 10000 | in_app_ownership_type=FAMILY_SHARED
            g2 | g | plus | 2025-04-20 | 2025-05-10 | 10000 | in_app_ownership_type=FAMILY_SHARED, transaction_reason=RENEWAL
            h1 | h | late | now -35 days  | now -5 days  | 10000 |                        # billing retry
            i1 | i | late | now -35 days  | now -5 days  | 10000 |                        # grace period
            j1 | j | late | now -100 days | now -70 days | 10000 |                        # retried for 60 days, in vain
            k1 | k | late | now -10 days  | now +20 days | 10000 |                        # runs
            l1 | l | kept | 2025-03-10 | 2025-04-10 | 10000 |
            l2 | l | kept | 2025-04-10 | 2025-05-10 | 10000 | transaction_reason=RENEWAL  # recovered in the grace period, after a day
            l3 | l | kept | 2025-05-10 | 2025-06-10 | 10000 | transaction_reason=RENEWAL  # failed, and nobody says when it came right
            l4 | l | kept | 2025-06-10 | 2025-07-10 | 10000 | transaction_reason=RENEWAL
            """
        )
        try await world.notify(
            """
            n0 | SUBSCRIBED        | -             | 2025-04-01 | x  |
            n1 | DID_FAIL_TO_RENEW | -             | 2025-04-10 | c1 |
            n2 | EXPIRED           | BILLING_RETRY | 2025-06-10 | c1 |
            n3 | EXPIRED           | VOLUNTARY     | 2025-04-10 | e1 |
            n4 | DID_RENEW         | BILLING_RECOVERY | 2025-04-11 | l2 |
            n5 | DID_FAIL_TO_RENEW | GRACE_PERIOD  | 2025-06-10 | l3 |
            n6 | DID_RENEW         | -             | 2025-06-10 | l4 |
            """
        )
        try await world.renewal(
            """
            a | 2025-06-10   | expiration_intent=1
            d | 2025-06-10   | expiration_intent=2
            h | now -5 days  | is_in_billing_retry_period=true
            i | now -5 days  | is_in_billing_retry_period=true, grace_period_expires_date=now +9 days
            j | now -70 days | is_in_billing_retry_period=true
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, failed, recovered, still_tried, lost, recovery_rate,
                       extract(epoch FROM median_time_to_recovery)::integer / 3600 AS hours
                  FROM billing_recovery_by_month WHERE product_id = 'plus' ORDER BY month
                """
            ) == ["04 4 2 0 2 0.5000 72"]
        )
        // Failures of a month that began before the first notification are incomplete.
        let rates = """
            SELECT to_char(month, 'MM') AS m, recovery_rate, to_char(notifications_since AT TIME ZONE 'UTC', 'MM-DD') AS since
              FROM %VIEW WHERE product_id = 'plus' AND failed > 0
            """
        let everyRecord = try #require(Oracle.queries["billing_recovery_by_month"])
        for view in ["billing_recovery_by_month", "(\(everyRecord)) every_record"] {
            let question = rates.replacing("%VIEW", with: view)
            #expect(try await world.answer(question) == ["04 0.5000 04-01"])
            try await world.run(
                "UPDATE notifications SET signed_date = '2025-04-02 UTC' WHERE notification_uuid = 'n0'"
            )
            #expect(try await world.answer(question) == ["04 - 04-02"])
            try await world.run("DELETE FROM notifications WHERE notification_uuid = 'n0'")
            #expect(try await world.answer(question) == ["04 - 04-10"])
            try await world.notify("n0 | SUBSCRIBED | - | 2025-04-01 | x |")
        }
        #expect(
            try await world.answer(
                "SELECT sum(failed), sum(recovered), sum(still_tried), sum(lost) FROM billing_recovery_by_month WHERE product_id = 'late'"
            ) == ["3 0 2 1"]
        )
        // Since when the payment fails, and until when the customer has access all the same.
        #expect(
            try await world.answer(
                """
                SELECT original_transaction_id, replace(status, ' ', '_'), round(extract(epoch FROM now() - expires_date) / 86400),
                       round(extract(epoch FROM grace_until - now()) / 86400)
                  FROM current_subscriptions WHERE product_id = 'late' ORDER BY 1
                """
            ) == ["h billing_retry 5 -", "i grace_period 5 9", "j expired 70 -", "k active -20 -"]
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, failed, recovered, lost, extract(epoch FROM median_time_to_recovery)::integer / 3600 AS hours
                  FROM billing_recovery_by_month WHERE product_id = 'kept' ORDER BY month
                """
            ) == ["04 1 1 0 24", "06 1 1 0 0"]
        )
        // A renewal after a period that was refunded is none after a failed payment.
        #expect(
            try await world.answer(
                "SELECT to_char(month, 'MM') AS m, renewals, renewals_after_a_gap FROM renewals_and_churn_by_month WHERE product_id = 'plus' AND renewals > 0 ORDER BY month"
            ) == ["04 2 1", "05 2 1"]
        )
    }

    @Test func `renewals_due: what renews, as what and for how much, and what will not`() async throws {
        let world = try await TestLedger()
        try await world.renewal(
            """
            a | now -1 days  | renewal_date=now +3 days, auto_renew_status=1, product_id=plus.monthly, auto_renew_product_id=plus.yearly, renewal_price_milliunits=99000, currency=USD
            b | now -1 days  | renewal_date=now +5 days, auto_renew_status=0, product_id=plus.monthly
            c | now -40 days | renewal_date=now -5 days, auto_renew_status=1, product_id=plus.monthly  # is over, whatever came of it
            d | now -1 days  | renewal_date=now +9 days, product_id=plus.monthly, is_in_billing_retry_period=true
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT original_transaction_id, round(extract(epoch FROM due_in) / 86400), will_renew, renews_as, renewal_price_milliunits, currency, is_in_billing_retry
                  FROM renewals_due ORDER BY renewal_date
                """
            ) == ["a 3 t plus.yearly 99000 USD f", "b 5 f plus.monthly - - f", "d 9 - plus.monthly - - t"]
        )
    }

    @Test func `an ASSIGNED transaction is access that another account paid for, and no revenue`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            g | g | team.monthly | 2025-01-10 | 2025-02-10 | 10000 | quantity=5                      # the purchaser, 10.00 a seat
            m | m | team.monthly | 2025-01-10 | 2025-02-10 | 10000 | quantity=5, in_app_ownership_type=ASSIGNED
            n | n | team.monthly | 2025-01-10 | 2025-02-10 | 10000 | quantity=5, in_app_ownership_type=ASSIGNED, revocation_date=2025-01-20, revocation_type=ASSIGNMENT_REVOKE
            """
        )
        #expect(try await world.answer("SELECT transaction_id, net_milliunits FROM purchases") == ["g 50000"])
        #expect(try await world.answer("SELECT transaction_id FROM refunded_purchases") == [])
        #expect(try await world.answer("SELECT sum(purchases) FROM product_prices") == ["1"])
        #expect(try await world.answer("SELECT sum(active_subscriptions) FROM mrr_by_month") == ["1"])
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, is_family_shared, is_paid, replace(ended_by, ' ', '_') FROM subscription_periods ORDER BY 1
                """
            ) == ["g f t expiry", "m t f expiry", "n t f assignment_revocation"]
        )
    }

    @Test func `family_sharing_by_month: who was given access and who lost it, and nothing else counts them`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a  | a | plus.monthly | 2025-01-10 | 2025-02-10 | 10000 | in_app_ownership_type=FAMILY_SHARED
            a2 | a | plus.monthly | 2025-02-10 | 2025-03-10 | 10000 | in_app_ownership_type=FAMILY_SHARED, transaction_reason=RENEWAL
            b  | b | plus.monthly | 2025-01-31 23:59 | 2025-02-28 | 0 | in_app_ownership_type=FAMILY_SHARED, revocation_date=2025-02-01, revocation_type=FAMILY_REVOKE
            c  | c | level        | 2025-01-10 | -          | 0     | in_app_ownership_type=FAMILY_SHARED, type=Non-Consumable
            d  | d | plus.monthly | 2025-01-10 | 2025-02-10 | 10000 |  # the one who pays
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, product_id, began, revoked FROM family_sharing_by_month ORDER BY 1, 2
                """
            )
                == ["01 level 1 0", "01 plus.monthly 2 0", "02 plus.monthly 0 1"]
        )
        #expect(try await world.answer("SELECT sum(active_subscriptions) FROM mrr_by_month") == ["1"])
        #expect(try await world.answer("SELECT transaction_id FROM purchases") == ["d"])
    }
}
