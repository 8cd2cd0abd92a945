import TestSupport
import Testing

/// Subscriptions with several seats, with the transactions that Apple documents for them.
///
/// Apple's price is the average price of a seat, and seats that are added during a period have a separate transaction.
/// Source: TransactionMultiSeatInfo and additionalTransactionReason, App Store Server API 1.23, read 2026-11.
@Suite(.migratedDatabase)
struct SeatViewTests {
    private static func tiers(_ tiers: (price: Int, seats: Int)..., list: String = "priceTiers") -> String {
        let tiers = tiers.map { #"{"price": \#($0.price), "quantity": \#($0.seats)}"# }.joined(separator: ", ")
        return #"{"multiSeatInfo": {"invitationManagement": "APPLE", "\#(list)": [\#(tiers)]}}"#
    }

    /// Eight seats, five of them at 9.99 and three at 7.99; four more for the last days of the period; a renewal of all.
    private static let added = """
        g1 | g | team.monthly | 2025-01-10 | 2025-02-10 | 9240  | quantity=8, additional_transaction_reason=SEAT_ADDITION
        g2 | g | team.monthly | 2025-01-25 | 2025-02-10 | 7990  | quantity=4, additional_transaction_reason=SEAT_ADDITION
        g3 | g | team.monthly | 2025-02-10 | 2025-03-10 | 8823  | quantity=12, transaction_reason=RENEWAL
        s1 | s | solo.monthly | 2025-01-10 | 2025-02-10 | 10000 | # a subscription without seats
        """
    private static let payloads = [
        "g1": tiers((9_990, 5), (7_990, 3)), "g2": tiers((7_990, 4)), "g3": tiers((9_990, 5), (7_990, 7)),
    ]

    @Test func `revenue counts every seat at its price, and added seats in the month in which they were bought`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.added, payloads: Self.payloads)
        #expect(
            try await world.answer("SELECT transaction_id, price_milliunits, net_milliunits FROM purchases ORDER BY 1")
                == ["g1 73920 73920", "g2 31960 31960", "g3 105880 105880", "s1 10000 10000"]
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, seats, seat_price_milliunits, price_milliunits FROM seat_purchases ORDER BY 1"
            ) == ["g1 8 9240 73920", "g2 4 7990 31960", "g3 12 8823 105880"]
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, purchases, units, gross_milliunits FROM revenue_by_month
                 WHERE product_id = 'team.monthly' ORDER BY 1
                """
            ) == ["01 2 12 105880", "02 1 12 105880"]
        )
        #expect(
            try await world.answer(
                "SELECT price_milliunits FROM product_prices WHERE product_id = 'team.monthly' ORDER BY 1"
            ) == ["7990", "8823", "9240"]
        )
    }

    @Test func `MRR after an addition covers all seats of the period, and the subscription counts once`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.added, payloads: Self.payloads)
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, period, price_milliunits, mrr_milliunits, to_char(ends_at AT TIME ZONE 'UTC', 'MM-DD') AS e,
                       is_continued
                  FROM subscription_periods ORDER BY 1
                """
            ) == [
                "g1 P1M 73920 73920 01-25 t", "g2 P1M 31960 105880 02-10 t", "g3 P1M 105880 105880 03-10 f",
                "s1 P1M 10000 10000 02-10 f",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, sum(active_subscriptions), sum(mrr_milliunits) FROM mrr_by_month
                 WHERE product_id = 'team.monthly' AND month < '2025-03-01' GROUP BY 1 ORDER BY 1
                """
            ) == ["01 1 105880", "02 1 105880"]
        )
    }

    @Test func `a refund of added seats ends neither the period nor the MRR of the others`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | team.monthly | 2025-01-10 | 2025-02-10 | 10000 | quantity=5, additional_transaction_reason=SEAT_ADDITION
            a2 | a | team.monthly | 2025-01-20 | 2025-02-10 | 10000 | quantity=1, additional_transaction_reason=SEAT_ADDITION, revocation_date=2025-01-22
            a3 | a | team.monthly | 2025-01-25 | 2025-02-10 | 10000 | quantity=2, additional_transaction_reason=SEAT_ADDITION
            b1 | b | team.monthly | 2025-01-10 | 2025-02-10 | 10000 | quantity=5, revocation_date=2025-01-22 # all of them
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, mrr_milliunits, to_char(ends_at AT TIME ZONE 'UTC', 'MM-DD') AS e, replace(ended_by, ' ', '_')
                  FROM subscription_periods ORDER BY 1
                """
            ) == [
                "a1 50000 01-20 next_period", "a2 50000 01-25 next_period", "a3 70000 02-10 expiry",
                "b1 50000 01-22 refund",
            ]
        )
        #expect(
            try await world.answer("SELECT transaction_id, refunded_milliunits FROM refunded_purchases ORDER BY 1")
                == ["a2 10000", "b1 50000"]
        )
    }

    @Test func `without tiers that add up to the seats, the average price counts for each seat`() async throws {
        let world = try await TestLedger()
        let payloads = [
            "a": Self.tiers((9_990, 5)), "b": #"{"multiSeatInfo": {"priceTiers": [{"price": "1", "quantity": 3}]}}"#,
            "c": #"{"multiSeatInfo": {"priceTiers": 7}}"#, "d": Self.tiers((9_990_000_000_000_000, 3)),
            "e": Self.tiers((0, 3)), "f": Self.tiers((9_990, 3)),
        ]
        try await world.buy(
            """
            a | a | team.monthly | 2025-01-10 | 2025-02-10 | 9000 | quantity=3
            b | b | team.monthly | 2025-01-10 | 2025-02-10 | 9000 | quantity=3
            c | c | team.monthly | 2025-01-10 | 2025-02-10 | 9000 | quantity=3
            d | d | team.monthly | 2025-01-10 | 2025-02-10 | 9000 | quantity=3
            e | e | team.monthly | 2025-01-10 | 2025-02-10 | 0    | quantity=3, offer_type=1, offer_discount_type=FREE_TRIAL
            f | f | coins        | 2025-01-10 | -          | 9000 | quantity=3 # a consumable: Apple's price is the sum
            g | g | team.monthly | 2025-01-10 | 2025-02-10 | -    | quantity=3
            """,
            payloads: payloads
        )
        #expect(
            try await world.answer("SELECT transaction_id, price_milliunits, is_paid FROM purchases ORDER BY 1")
                == ["a 27000 t", "b 27000 t", "c 27000 t", "d 27000 t", "e 0 f", "f 9000 t", "g - t"]
        )
    }

    @Test func `a renewal of several seats is due at the price of all of them, and a request names it too`()
        async throws
    {
        let world = try await TestLedger()
        try await world.renewal(
            """
            a | 2025-01-10 | product_id=team.monthly, renewal_date=now +3 days, renewal_price_milliunits=8823, renewal_quantity=12
            b | 2025-01-10 | product_id=team.monthly, renewal_date=now +4 days, renewal_price_milliunits=8823, renewal_quantity=12
            c | 2025-01-10 | product_id=solo.monthly, renewal_date=now +5 days, renewal_price_milliunits=9990
            """,
            payloads: ["a": Self.tiers((9_990, 5), (7_990, 7), list: "renewalPriceTiers")]
        )
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, renewal_price_milliunits FROM renewals_due ORDER BY renewal_date"
            ) == ["a 105880", "b 105876", "c 9990"]
        )
        try await world.buy(Self.added, payloads: Self.payloads)
        try await world.notify(
            """
            n1 | CONSUMPTION_REQUEST | - | 2025-01-26 | g1 |
            n2 | CONSUMPTION_REQUEST | - | 2025-01-26 | s1 |
            """
        )
        #expect(
            try await world.answer("SELECT transaction_id, price_milliunits FROM consumption_requests ORDER BY 1")
                == ["g1 73920", "s1 10000"]
        )
    }
}
