import AppStoreModel
import Erasure
import Ledger
import TestSupport
import Testing

/// What counts as a purchase, as a lapse and as a customer, with the values of reports about other tools.
@Suite(.migratedDatabase)
struct PurchaseRuleTests {
    /// Money and counts of every view that has them of a purchase.
    private static let shown = """
        SELECT (SELECT count(*) FROM purchases) AS purchases,
               (SELECT sum(gross_milliunits) FROM revenue_by_month) AS gross,
               (SELECT sum(net_milliunits) FROM revenue_by_month) AS net,
               (SELECT sum(new_payments + renewal_payments) FROM revenue_by_day) AS payments,
               (SELECT count(*) FROM subscription_periods) AS periods,
               (SELECT count(*) FROM subscription_periods WHERE starts_at = ends_at) AS empty,
               (SELECT sum(purchases) FROM product_summary) AS sold,
               (SELECT sum(purchases + renewals) FROM product_prices) AS at_a_price,
               (SELECT count(*) FROM transactions) AS records
        """

    private static let one =
        "purchases=1 gross=9990 net=9990 payments=1 periods=1 empty=0 sold=1 at_a_price=1 records=2"

    /// Refreshes what changed, compares it with every record, and returns `shown` with the names of its columns.
    private func counts(_ world: TestLedger) async throws -> String {
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        let row = try await world.value(
            "SELECT string_agg(key || '=' || value, ' ' ORDER BY n) FROM (\(Self.shown)) s CROSS JOIN LATERAL jsonb_each_text(to_jsonb(s)) WITH ORDINALITY AS e (key, value, n)"
        )
        let names = ["purchases", "gross", "net", "payments", "periods", "empty", "sold", "at_a_price", "records"]
        let values = (row ?? "").split(separator: " ")
        return names.compactMap { name in values.first { $0.hasPrefix("\(name)=") } }.joined(separator: " ")
    }

    private func file(_ transaction: String, signed: String, in world: TestLedger, more: String = "") async throws {
        try await world.buy(
            "\(transaction) | 300 | plus.monthly | 2025-03-10 | 2025-04-10 | 9990 | web_order_line_item_id=77, signed_date=\(signed), transaction_reason=RENEWAL\(more)"
        )
    }

    @Test(arguments: [["400", "401"], ["401", "400"]])
    func `one purchase under two transaction IDs counts once, whichever night brings which`(order: [String])
        async throws
    {
        let world = try await TestLedger()
        try await file(order[0], signed: "2025-03-10", in: world)
        _ = try await counts(world)
        try await file(order[1], signed: "2025-03-11", in: world)
        #expect(try await counts(world) == Self.one)

        // A refund counts under either ID, and so does its reversal.
        for transaction in order {
            let revoked = transaction == order[0] ? "2025-03-20" : "2025-03-22"
            try await world.run(
                """
                UPDATE transactions SET revocation_date = '\(revoked)Z', revocation_type = 'REFUND_FULL', signed_date = '\(revoked)Z'
                 WHERE transaction_id = '\(transaction)'
                """
            )
            #expect(
                try await counts(world) == Self.one.replacing("net=9990", with: "net=0"),
                "\(transaction) is refunded"
            )
            #expect(try await world.answer("SELECT refunds FROM revenue_by_month WHERE refunds > 0") == ["1"])
            try await world.run(
                """
                UPDATE transactions SET revocation_date = NULL, revocation_type = NULL, signed_date = signed_date + interval '1 day'
                 WHERE transaction_id = '\(transaction)'
                """
            )
            #expect(try await counts(world) == Self.one, "the refund of \(transaction) is reversed")
        }

        // Without one of the two records, the other represents the purchase.
        try await world.run("DELETE FROM transactions WHERE transaction_id = '\(order[1])'")
        #expect(try await counts(world) == Self.one.replacing("records=2", with: "records=1"))
        try await file(order[1], signed: "2025-03-30", in: world)
        #expect(try await counts(world) == Self.one)
        _ = try await world.ledger.erase([.transaction(try #require(TransactionID("300")))], in: [world.app])
        #expect(
            try await counts(world) == "purchases=0 periods=0 empty=0 records=0"
        )
    }

    @Test func `what notifications say of either ID applies to the purchase`() async throws {
        let world = try await TestLedger()
        try await file("400", signed: "2025-03-10", in: world)
        try await file("401", signed: "2025-03-11", in: world)
        // 1745366400000 is 2025-04-23.
        try await world.notify(
            """
            n1 | DID_FAIL_TO_RENEW | GRACE_PERIOD | 2025-04-10 | 400 | original_transaction_id=300, payload={"data": {"signedRenewalInfo": {"gracePeriodExpiresDate": 1745366400000}}}
            n2 | DID_CHANGE_RENEWAL_STATUS | AUTO_RENEW_DISABLED | 2025-03-15 | 400 | original_transaction_id=300
            """
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, to_char(grace_until AT TIME ZONE 'UTC', 'MM-DD') FROM subscription_periods"
            ) == ["401 04-23"]
        )
        #expect(try await world.answer("SELECT failed, lost FROM billing_recovery_by_month") == ["1 1"])
        #expect(
            try await world.answer(
                "SELECT product_id, storefront, cancelled, cancelled_mrr_milliunits FROM cancellations_by_day"
            )
                == ["plus.monthly USA 1 9990"]
        )
        #expect(
            try await world.answer("SELECT month, churned_billing FROM renewals_and_churn_by_month WHERE churned > 0")
                == ["2025-04-01 1"]
        )
        // The period's MRR changes, and with it the MRR of the cancellation that names the other ID.
        try await world.run("UPDATE transactions SET price_milliunits = 4990 WHERE transaction_id = '401'")
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        let cancelled = "SELECT storefront, cancelled_mrr_milliunits FROM cancellations_by_day"
        try await file("402", signed: "2025-03-12", in: world)
        try await world.run("UPDATE transactions SET web_order_line_item_id = 'other' WHERE transaction_id = '402'")
        #expect(try await world.answer(cancelled) == ["USA 4990"])
        // Only the other ID's record changes: it becomes one of another purchase, is gone, and comes back.
        for (change, shown) in [
            ("UPDATE transactions SET web_order_line_item_id = 'other' WHERE transaction_id = '400'", "USA 9990"),
            ("DELETE FROM transactions WHERE transaction_id = '400'", "- 0"),
        ] {
            try await world.run(change)
            try await world.run("UPDATE refresh_state SET purchases = 1000000000")
            #expect(try await world.differences() == [])
            #expect(try await world.answer(cancelled) == [shown])
        }
        try await file("400", signed: "2025-03-10", in: world)
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(try await world.answer(cancelled) == ["USA 4990"])
    }

    @Test func `added seats are separate purchases, and under two IDs they count once, too`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            g1 | g | team.monthly | 2025-01-10 | 2025-02-10 | 9990 | quantity=8, web_order_line_item_id=5
            g2 | g | team.monthly | 2025-01-10 | 2025-02-10 | 9990 | quantity=8, web_order_line_item_id=5, additional_transaction_reason=SEAT_ADDITION
            g3 | g | team.monthly | 2025-01-20 | 2025-02-10 | 9990 | quantity=4, web_order_line_item_id=5, additional_transaction_reason=SEAT_ADDITION
            g4 | g | team.monthly | 2025-01-20 | 2025-02-10 | 9990 | quantity=4, web_order_line_item_id=5, additional_transaction_reason=SEAT_ADDITION
            """
        )
        #expect(
            try await world.answer("SELECT transaction_id, price_milliunits FROM purchases ORDER BY 1")
                == ["g2 79920", "g4 39960"]
        )
        #expect(try await world.answer("SELECT transaction_id FROM seat_purchases ORDER BY 1") == ["g2", "g4"])
        #expect(
            try await world.answer("SELECT month, mrr_milliunits FROM mrr_by_month") == ["2025-01-01 119880"]
        )
    }

    @Test func `a record without a price does not represent a purchase while another record of it has one`()
        async throws
    {
        let world = try await TestLedger()
        try await file("400", signed: "2025-03-10", in: world)
        try await file("401", signed: "2025-03-11", in: world, more: ", price_milliunits=-, currency=-")
        #expect(try await counts(world) == Self.one)
    }

    @Test func `a restored non-consumable is no second sale`() async throws {
        let world = try await TestLedger()
        let sale = "type=Non-Consumable, original_purchase_date=2025-01-10"
        try await world.buy(
            """
            r1 | p1 | forever | 2025-05-01 | - | 29990 | \(sale)
            r2 | p1 | forever | 2025-06-01 | - | 29990 | \(sale)
            c1 | c1 | coins   | 2025-05-01 | - | 990   |
            """
        )
        // The first record is the purchase's, and comes later.
        #expect(try await world.answer("SELECT transaction_id FROM purchases ORDER BY 1") == ["c1", "r1"])
        try await world.buy("p1 | p1 | forever | 2025-01-10 | - | 29990 | \(sale)")
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(
            try await world.answer(
                "SELECT month, purchases, gross_milliunits FROM revenue_by_month WHERE product_id = 'forever'"
            )
                == ["2025-01-01 1 29990"]
        )
        #expect(try await world.count("transactions") == 4)
    }

    @Test func `one original transaction belongs to one customer, although appTransactionId changes`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a1 | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 | app_transaction_id=700
            a2 | a1 | plus.monthly | 2025-02-10 | 2025-03-10 | 1000 | app_transaction_id=701, transaction_reason=RENEWAL
            b2 | b1 | plus.monthly | 2025-02-10 | 2025-03-10 | 1000 | listed_transaction_id=b2
            b3 | b1 | plus.monthly | 2025-03-10 | 2025-04-10 | 1000 | app_transaction_id=801, transaction_reason=RENEWAL
            c1 | c1 | coins        | 2025-02-10 | -          | 1000 | app_transaction_id=801
            """
        )
        try await world.renewal("a1 | 2025-02-10 | renewal_date=now +20 days, app_transaction_id=701")
        #expect(
            try await world.answer("SELECT transaction_id, customer_key FROM purchases ORDER BY 1")
                == ["a1 700", "a2 700", "b2 801", "b3 801", "c1 801"]
        )
        #expect(
            try await world.answer(
                "SELECT cohort_month, customers, net_milliunits FROM lifetime_value_by_cohort WHERE month_number < 2 ORDER BY 1, month_number"
            ) == ["2025-01-01 1 1000", "2025-01-01 1 1000", "2025-02-01 1 2000", "2025-02-01 1 1000"]
        )
        #expect(try await world.answer("SELECT customer_key FROM current_subscriptions ORDER BY 1") == ["700", "801"])
        #expect(try await world.answer("SELECT customer_key FROM renewals_due") == ["700"])
        // Another record of the subscription, and the customer of all of its purchases is known.
        try await world.buy("b1 | b1 | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 | app_transaction_id=800")
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(
            try await world.answer("SELECT DISTINCT customer_key FROM purchases WHERE original_transaction_id = 'b1'")
                == ["800"]
        )
    }

    /// Second periods that begin late.
    ///
    /// a: by Apple, 40 seconds late. b: an hour and a second. c: the customer bought again. d, e: the payment had failed.
    private static let late = """
        a1 | a | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 |
        a2 | a | plus.monthly | 2025-02-10 00:00:40 | 2025-03-10 | 1000 | transaction_reason=RENEWAL
        b1 | b | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 |
        b2 | b | plus.monthly | 2025-02-10 01:00:01 | 2025-03-10 | 1000 | transaction_reason=RENEWAL
        c1 | c | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 |
        c2 | c | plus.monthly | 2025-02-10 00:00:40 | 2025-03-10 | 1000 |
        d1 | d | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 |
        d2 | d | plus.monthly | 2025-02-10 00:30 | 2025-03-10 | 1000 | transaction_reason=RENEWAL
        e1 | e | plus.monthly | 2025-01-10 | 2025-02-10 | 1000 |
        e2 | e | plus.monthly | 2025-02-10 00:30 | 2025-03-10 | 1000 | transaction_reason=RENEWAL
        """

    @Test
    func `a renewal within an hour after the expiry is no lapse, unless a notification says that the payment failed`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.late)
        try await world.notify(
            """
            n1 | DID_FAIL_TO_RENEW | - | 2025-02-10 | d1 |
            n2 | DID_RENEW | BILLING_RECOVERY | 2025-02-10 00:30 | e2 |
            """
        )
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, has_gap, is_continued, is_renewed FROM subscription_periods WHERE period_number = 1 ORDER BY 1"
            ) == ["a f t t", "b t f t", "c t f f", "d t f t", "e t f t"]
        )
        #expect(
            try await world.answer(
                "SELECT expired, resubscribed FROM subscription_movement_by_day WHERE day = '2025-02-10'"
            )
                == ["4 4"]
        )
        #expect(
            try await world.answer(
                "SELECT failed, recovered, lost FROM billing_recovery_by_month WHERE month = '2025-02-01'"
            )
                == ["3 3 0"]
        )
        #expect(
            try await world.answer(
                "SELECT renewals, renewals_after_a_gap FROM renewals_and_churn_by_month WHERE renewals > 0"
            )
                == ["4 3"]
        )
    }

    @Test
    func `a renewal that begins seconds after the expiry on the last day of a month is neither churn nor a return`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2024-12-31 23:59:50 | 2025-01-31 23:59:50 | 1000 |
            a2 | a | plus.monthly | 2025-02-01 00:00:20 | 2025-03-01 | 1000 | transaction_reason=RENEWAL
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT month, churned_subscriptions, reactivated_subscriptions, closing_subscriptions FROM mrr_movement_by_month
                 WHERE month IN ('2025-01-01', '2025-02-01') ORDER BY 1
                """
            ) == ["2025-01-01 0 0 1", "2025-02-01 0 0 1"]
        )
        #expect(
            try await world.answer(
                "SELECT month, churn_rate FROM subscription_movement_by_month WHERE month = '2025-02-01'"
            )
                == ["2025-02-01 0.0000"]
        )
    }

    @Test func `refunded seats leave the MRR of a closed month as it was, and lower it from the refund on`()
        async throws
    {
        let world = try await TestLedger()
        let seats = """
            g1 | g | team.monthly | 2025-01-10 | 2025-02-10 | 9990 | quantity=8, additional_transaction_reason=SEAT_ADDITION
            g2 | g | team.monthly | 2025-01-20 | 2025-02-10 | 9990 | quantity=4, additional_transaction_reason=SEAT_ADDITION
            y1 | y | team.yearly  | 2025-01-10 | 2026-01-10 | 120000 | quantity=2, additional_transaction_reason=SEAT_ADDITION
            y2 | y | team.yearly  | 2025-01-20 | 2026-01-10 | 120000 | quantity=1, additional_transaction_reason=SEAT_ADDITION
            y3 | y | team.yearly  | 2025-01-25 | 2026-01-10 | 120000 | quantity=1, additional_transaction_reason=SEAT_ADDITION
            """
        try await world.buy(seats)
        let january = "SELECT product_id, mrr_milliunits FROM mrr_by_month WHERE month = '2025-01-01' ORDER BY 1"
        #expect(try await world.answer(january) == ["team.monthly 119880", "team.yearly 40000"])
        try await world.run(
            """
            UPDATE transactions SET revocation_date = '2025-02-05Z' WHERE transaction_id = 'g2';
            UPDATE transactions SET revocation_date = '2025-02-05Z' WHERE transaction_id = 'y1';
            UPDATE transactions SET revocation_date = '2025-03-05Z' WHERE transaction_id = 'y3';
            UPDATE refresh_state SET purchases = 1000000000
            """
        )
        #expect(try await world.differences() == [])
        #expect(try await world.answer(january) == ["team.monthly 119880", "team.yearly 40000"])
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, opening_milliunits, contraction_milliunits, churn_milliunits, closing_milliunits
                  FROM mrr_movement_by_month WHERE month BETWEEN '2025-02-01' AND '2025-04-01' ORDER BY 1
                """
            ) == ["02 159880 20000 119880 20000", "03 20000 10000 0 10000", "04 10000 0 0 10000"]
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, month, mrr_milliunits FROM subscription_months WHERE month < '2025-05-01' ORDER BY 2, 1"
            )
                == [
                    "g2 2025-01-01 119880", "y3 2025-01-01 40000", "y3 2025-02-01 20000", "y3 2025-03-01 10000",
                    "y3 2025-04-01 10000",
                ]
        )
        // The refund of some seats is no revocation of the subscription.
        #expect(
            try await world.answer(
                "SELECT transaction_id, revocation_date, ended_by FROM subscription_periods WHERE next_transaction_id IS NULL ORDER BY 1"
            )
                == ["g2 - expiry", "y3 - expiry"]
        )
    }

    @Test func `seats that are refunded one after the other end the period with the last of them`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            g1 | g | team.monthly | now -20 days | now +10 days | 1000 | quantity=2, additional_transaction_reason=SEAT_ADDITION, revocation_date=now -5 days
            g2 | g | team.monthly | now -15 days | now +10 days | 1000 | quantity=3, additional_transaction_reason=SEAT_ADDITION, revocation_date=now -9 days
            h1 | h | team.monthly | now -20 days | now +10 days | 1000 | quantity=2, additional_transaction_reason=SEAT_ADDITION
            h2 | h | team.monthly | now -15 days | now +10 days | 1000 | quantity=3, additional_transaction_reason=SEAT_ADDITION, revocation_date=now -9 days
            """
        )
        // Seats of one period expire at one moment.
        try await world.run("UPDATE transactions SET expires_date = now() + interval '10 days'")
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, status, mrr_milliunits FROM current_subscriptions ORDER BY 1"
            ) == ["g revoked 2000", "h active 2000"]
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, (now() - ends_at) < interval '6 days' AS lasted, mrr_before_seat_refunds FROM subscription_periods WHERE original_transaction_id = 'g' ORDER BY 1"
            )
                == ["g1 f -", "g2 t {5000}"]
        )
        #expect(
            try await world.answer(
                "SELECT status, subscriptions, mrr_milliunits FROM subscriptions_by_status ORDER BY 1"
            )
                == ["active 1 2000", "revoked 1 0"]
        )
    }

    @Test func `a trial that was lost and a free offer later are two trials, each on its day and with its own outcome`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-04-19 | 2025-04-26 | 0 | offer_type=1, offer_discount_type=FREE_TRIAL
            a2 | a | plus.monthly | 2025-10-19 | 2025-11-19 | 0 | offer_type=3, offer_discount_type=FREE_TRIAL, offer_identifier=autumn
            a3 | a | plus.monthly | 2025-11-19 | 2025-12-19 | 9990 | transaction_reason=RENEWAL
            b1 | b | plus.monthly | 2025-04-19 | 2025-05-19 | 0 | offer_type=1, offer_discount_type=FREE_TRIAL  # an offer of two free months
            b2 | b | plus.monthly | 2025-05-19 | 2025-06-19 | 0 | offer_type=1, offer_discount_type=FREE_TRIAL, transaction_reason=RENEWAL
            c1 | c | plus.monthly | 2025-04-19 | 2025-04-26 | 0 | offer_type=1, offer_discount_type=FREE_TRIAL  # bought later without a trial
            c2 | c | plus.monthly | 2025-08-19 | 2025-09-19 | 9990 |
            """
        )
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(
            try await world.answer("SELECT day, started, converted, running, lost FROM trials_by_day ORDER BY 1")
                == ["2025-04-19 3 1 0 2", "2025-10-19 1 1 0 0"]
        )
    }

    @Test func `an extension that no notification names is no paid service, as it is no MRR`() async throws {
        let world = try await TestLedger()
        // 337 days of paid service, and 30 by which the first month was extended.
        try await world.buy(
            """
            a01 | a | plus.monthly | 2024-01-01 | 2024-03-02 | 9990 |
            a02 | a | plus.monthly | 2024-03-02 | 2024-04-02 | 9990 | transaction_reason=RENEWAL
            a03 | a | plus.monthly | 2024-04-02 | 2024-05-02 | 9990 | transaction_reason=RENEWAL
            a04 | a | plus.monthly | 2024-05-02 | 2024-06-02 | 9990 | transaction_reason=RENEWAL
            a05 | a | plus.monthly | 2024-06-02 | 2024-07-02 | 9990 | transaction_reason=RENEWAL
            a06 | a | plus.monthly | 2024-07-02 | 2024-08-02 | 9990 | transaction_reason=RENEWAL
            a07 | a | plus.monthly | 2024-08-02 | 2024-09-02 | 9990 | transaction_reason=RENEWAL
            a08 | a | plus.monthly | 2024-09-02 | 2024-10-02 | 9990 | transaction_reason=RENEWAL
            a09 | a | plus.monthly | 2024-10-02 | 2024-11-02 | 9990 | transaction_reason=RENEWAL
            a10 | a | plus.monthly | 2024-11-02 | 2024-12-02 | 9990 | transaction_reason=RENEWAL
            a11 | a | plus.monthly | 2024-12-02 | 2025-01-02 | 9990 | transaction_reason=RENEWAL
            a12 | a | plus.monthly | 2025-01-02 | 2025-02-02 | 9990 | transaction_reason=RENEWAL
            """
        )
        try await world.run(
            "INSERT INTO proceeds_rules (app_id, storefront, valid_from, tax, commission, commission_after_a_year) VALUES (1, '*', '2020-01-01', 0, 0.3, 0.15)"
        )
        #expect(
            try await world.answer(
                "SELECT period, mrr_milliunits, to_char(extended_from AT TIME ZONE 'UTC', 'MM-DD') AS e FROM subscription_periods WHERE transaction_id = 'a01'"
            ) == ["P1M 9990 02-01"]
        )
        let january = "SELECT proceeds_by_year_estimated_amount FROM proceeds_by_month WHERE month = '2025-01-01'"
        #expect(try await world.answer(january) == ["6.993"])
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        // Without the extension, the same days would be paid service.
        try await world.run("UPDATE transactions SET expires_date = '2024-01-31Z' WHERE transaction_id = 'a01'")
        try await world.buy("a00 | a | plus.monthly | 2024-01-31 | 2024-03-02 | 9990 | transaction_reason=RENEWAL")
        #expect(try await world.answer(january) == ["8.492"])
    }

    @Test func `an offer that is redeemed again after a lapse counts again`() async throws {
        let world = try await TestLedger()
        let offer = "offer_type=3, offer_discount_type=PAY_AS_YOU_GO, offer_identifier=spring"
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-01-10 | 2025-02-10 | 5000 | \(offer)
            a2 | a | plus.monthly | 2025-02-10 | 2025-03-10 | 5000 | \(offer), transaction_reason=RENEWAL   # the offer has two months
            a3 | a | plus.monthly | 2025-06-10 | 2025-07-10 | 5000 | \(offer)                               # redeemed again
            b1 | b | plus.monthly | 2025-01-10 | 2025-02-10 | 5000 | \(offer)
            b2 | b | plus.monthly | 2025-02-15 | 2025-03-15 | 5000 | \(offer), transaction_reason=RENEWAL   # recovered
            """
        )
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(
            try await world.answer("SELECT month, redemptions FROM offer_redemptions_by_month ORDER BY 1")
                == ["2025-01-01 2", "2025-06-01 1"]
        )
    }

    @Test func `a failed payment whose period is refunded during its grace period is a failed payment`() async throws {
        let world = try await TestLedger()
        let grace = "payload={\"data\": {\"signedRenewalInfo\": {\"gracePeriodExpiresDate\": 4102444800000}}}"
        try await world.buy(
            """
            a1 | a | plus.monthly | now -40 days | now -10 days | 9990 | revocation_date=now -5 days  # refunded in the grace period
            b1 | b | plus.monthly | now -40 days | now -10 days | 9990 |                              # in the grace period
            c1 | c | plus.monthly | now -40 days | now -10 days | 9990 | revocation_date=now -15 days # refunded before the payment
            """
        )
        try await world.notify(
            """
            n1 | DID_FAIL_TO_RENEW | GRACE_PERIOD | now -10 days | a1 | original_transaction_id=a, \(grace)
            n2 | DID_FAIL_TO_RENEW | GRACE_PERIOD | now -10 days | b1 | original_transaction_id=b, \(grace)
            """
        )
        try await world.run("UPDATE refresh_state SET purchases = 1000000000")
        #expect(try await world.differences() == [])
        #expect(
            try await world.answer(
                "SELECT sum(failed), sum(recovered), sum(still_tried), sum(lost) FROM billing_recovery_by_month"
            )
                == ["2 0 1 1"]
        )
    }

    @Test func `MRR that switches to another currency is neither lost nor kept by MRR retention`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-01-10 | 2025-02-10 | 10000 |
            a2 | a | plus.monthly | 2025-02-10 | 2025-03-10 | 9000  | transaction_reason=RENEWAL, currency=EUR
            b1 | b | plus.monthly | 2025-01-10 | 2025-02-10 | 10000 |
            c1 | c | plus.monthly | 2025-01-10 | 2025-02-10 | 20000 |
            c2 | c | plus.monthly | 2025-02-10 | 2025-03-10 | 20000 | transaction_reason=RENEWAL
            """
        )
        try await world.run(
            "INSERT INTO exchange_rates (currency, reporting_currency, day, rate) VALUES ('EUR', 'USD', '2020-01-01', 1)"
        )
        #expect(
            try await world.answer(
                """
                SELECT opening_milliunits, gross_mrr_retention, net_mrr_retention, mrr_churn_rate FROM mrr_retention_by_month
                 WHERE month = '2025-02-01' AND currency = 'USD'
                """
            ) == ["40000 0.6667 0.6667 0.3333"]
        )
        #expect(
            try await world.answer(
                "SELECT gross_mrr_retention, net_mrr_retention FROM mrr_movement_converted_by_month WHERE month = '2025-02-01'"
            ) == ["0.6667 0.6667"]
        )
    }

    @Test
    func `what the doubtful cases count is decided: the first payment, added seats, a free month, refunded months`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            f1 | f | plus.monthly | 2025-01-10 | 2025-01-17 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
            f2 | f | plus.monthly | 2025-01-17 | 2025-02-17 | 9990  | transaction_reason=RENEWAL
            f3 | f | plus.monthly | 2025-02-17 | 2025-03-17 | 0     | offer_type=2, offer_discount_type=FREE_TRIAL, transaction_reason=RENEWAL
            f4 | f | plus.monthly | 2025-03-17 | 2025-04-17 | 9990  | transaction_reason=RENEWAL
            g1 | g | team.monthly | 2025-01-10 | 2025-02-10 | 9990  | quantity=8, additional_transaction_reason=SEAT_ADDITION
            g2 | g | team.monthly | 2025-01-20 | 2025-02-10 | 9990  | quantity=4, additional_transaction_reason=SEAT_ADDITION
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, to_char(first_paid_at AT TIME ZONE 'UTC', 'MM-DD'), payment_number, is_renewed
                  FROM subscription_periods ORDER BY 1
                """
            ) == [
                "f1 01-17 - f", "f2 01-17 1 f", "f3 01-17 - f", "f4 01-17 2 f", "g1 01-10 1 t", "g2 01-10 2 f",
            ]
        )
        #expect(
            try await world.answer(
                "SELECT product_id, payment_number, due, renewed FROM retention_by_renewal ORDER BY 1, 2"
            )
                == ["plus.monthly 1 1 0", "plus.monthly 2 1 0", "team.monthly 1 1 1", "team.monthly 2 1 0"]
        )
        // Two refunded months, 61 days, are no lapse of paid service: the year of 365 days before them counts on.
        try await world.buy(
            """
            y1 | y | plus.yearly  | 2023-06-01 | 2024-06-01 | 99990 |
            y2 | y | plus.monthly | 2024-07-01 | 2024-08-01 | 9990  | transaction_reason=RENEWAL, revocation_date=2024-09-15
            y3 | y | plus.monthly | 2024-08-01 | 2024-09-01 | 9990  | transaction_reason=RENEWAL, revocation_date=2024-09-15
            y4 | y | plus.monthly | 2024-09-01 | 2024-10-01 | 9990  | transaction_reason=RENEWAL
            """
        )
        #expect(
            try await world.answer(
                "SELECT month, purchases, gross_milliunits, refunded_milliunits FROM revenue_after_a_year_by_month ORDER BY 1"
            )
                == ["2024-07-01 1 9990 0", "2024-08-01 1 9990 0", "2024-09-01 1 9990 19980"]
        )
    }
}
