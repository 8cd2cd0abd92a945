import TestSupport
import Testing

/// Whose renewals `renewals_due` has, and as which customer.
@Suite(.migratedDatabase)
struct RenewalsDueTests {
    @Test func `members of a family or a group renew nothing that is paid for, so they are not in renewals_due`()
        async throws
    {
        let world = try await TestLedger()
        let renewal =
            "now -1 days | renewal_date=now +2 days, auto_renew_status=1, product_id=plus.yearly, renewal_price_milliunits=49990"
        try await world.renewal(
            ["purchaser", "family", "assigned", "unknown", "left"].map { "\($0) | \(renewal)" }.joined(separator: "\n")
        )
        try await world.buy(
            """
            p1 | purchaser | plus.yearly | now -363 days | now +2 days   | 49990 |
            f1 | family    | plus.yearly | now -363 days | now +2 days   | 49990 | in_app_ownership_type=FAMILY_SHARED
            a1 | assigned  | plus.yearly | now -363 days | now +2 days   | 49990 | in_app_ownership_type=ASSIGNED
            l1 | left      | plus.yearly | now -728 days | now -363 days | 0     | in_app_ownership_type=FAMILY_SHARED
            l2 | left      | plus.yearly | now -363 days | now +2 days   | 49990 |  # pays since last year
            """
        )
        #expect(
            try await world.answer(
                "SELECT original_transaction_id, renewal_price_milliunits FROM renewals_due ORDER BY 1"
            ) == ["left 49990", "purchaser 49990", "unknown 49990"]
        )
    }

    @Test func `price_change of renewals_due says why a renewal has another price than the last period`() async throws {
        let world = try await TestLedger()
        let last = "plus | now -28 days | now +2 days"
        try await world.buy(
            """
            same1  | same  | plus | now -58 days | now -28 days | 4000 |
            same2  | same  | \(last) | 5000 |
            up     | up    | \(last) | 5000 |
            down   | down  | \(last) | 5000 |
            other  | other | \(last) | 5000 |
            trial  | trial | \(last) | 0    | offer_type=1, offer_discount_type=FREE_TRIAL
            won    | won   | \(last) | 5000 |
            go     | go    | \(last) | 2500 | offer_type=2
            items  | items | \(last) | 2500 | advanced_commerce_request_reference_id=7
            moved  | moved | \(last) | 5000 | currency=EUR
            seats  | seats | \(last) | 5000 | quantity=2
            free   | free  | \(last) | -    |
            """,
            payloads: ["items": #"{"advancedCommerceInfo": {"items": [{"price": 5000, "offer": {"price": 2500}}]}}"#]
        )
        let next = "now -1 days | renewal_date=now +2 days, auto_renew_status=1, currency=USD, product_id=plus"
        try await world.renewal(
            """
            same  | \(next), renewal_price_milliunits=5000
            up    | \(next), renewal_price_milliunits=6000, price_increase_status=1
            down  | \(next), renewal_price_milliunits=4000
            other | \(next), renewal_price_milliunits=9000, auto_renew_product_id=max
            trial | \(next), renewal_price_milliunits=5000
            won   | \(next), renewal_price_milliunits=2500, offer_type=4
            go    | \(next), renewal_price_milliunits=2000, offer_type=2
            items | \(next), renewal_price_milliunits=5000, advanced_commerce_request_reference_id=7
            moved | \(next), renewal_price_milliunits=5500
            seats | \(next), renewal_price_milliunits=5000, renewal_quantity=3
            free  | \(next), renewal_price_milliunits=5000
            none  | \(next), renewal_price_milliunits=5000
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT original_transaction_id, last_price_milliunits, last_price_amount, renewal_price_milliunits, replace(price_change, ' ', '_')
                  FROM renewals_due ORDER BY 1
                """
            ) == [
                "down 5000 5.000 4000 decrease", "free - - 5000 -", "go 2500 2.500 2000 offer",
                "items 2500 2.500 5000 offer_ends",
                "moved 5000 5.000 5500 currency", "none - - 5000 -", "other 5000 5.000 9000 product",
                "same 5000 5.000 5000 -",
                "seats 10000 10.000 15000 seats", "trial 0 0.000 5000 offer_ends", "up 5000 5.000 6000 increase",
                "won 5000 5.000 2500 offer_begins",
            ]
        )
    }

    @Test func `renewals_due names the same customer as purchases`() async throws {
        let world = try await TestLedger()
        let renewal = "now -1 days | renewal_date=now +2 days, auto_renew_status=1, product_id=plus.monthly"
        try await world.renewal(
            """
            a | \(renewal), app_transaction_id=app-a
            b | \(renewal)
            c | \(renewal)
            d | \(renewal), app_transaction_id=app-d
            """
        )
        try await world.buy(
            """
            a1 | a | plus.monthly | now -28 days | now +2 days  | 4990 | app_transaction_id=app-a, listed_transaction_id=a1
            b1 | b | plus.monthly | now -28 days | now +2 days  | 4990 | listed_transaction_id=listed-b
            c1 | c | plus.monthly | now -28 days | now +2 days  | 4990 |
            """
        )
        let due = "SELECT original_transaction_id, customer_key FROM renewals_due"
        #expect(try await world.answer("\(due) ORDER BY 1") == ["a app-a", "b listed-b", "c c", "d app-d"])
        #expect(
            try await world.answer("\(due) EXCEPT SELECT original_transaction_id, customer_key FROM purchases")
                == ["d app-d"]
        )
    }
}
