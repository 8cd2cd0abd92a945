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
