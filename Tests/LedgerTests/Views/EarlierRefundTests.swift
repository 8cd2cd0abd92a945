import TestSupport
import Testing

/// What a policy knows of the customer of a refund request.
@Suite(.migratedDatabase)
struct EarlierRefundTests {
    @Test func `earlier refunds are the customer's other refunded purchases, as in purchases`() async throws {
        let world = try await TestLedger()
        // 400 and 401 are one purchase, and so are 910 and 911.
        try await world.buy(
            """
            400 | 300 | plus.monthly | 2025-03-10 | 2025-04-10 | 9990 | app_transaction_id=7, web_order_line_item_id=77, revocation_date=2025-03-20
            401 | 300 | plus.monthly | 2025-03-10 | 2025-04-10 | 9990 | app_transaction_id=7, web_order_line_item_id=77, revocation_date=2025-03-20
            500 | 300 | plus.monthly | 2025-04-10 | 2025-05-10 | 9990 | app_transaction_id=6, web_order_line_item_id=78, revocation_date=2025-04-11
            600 | - | shared | 2025-01-10 | - | 990 | app_transaction_id=7, in_app_ownership_type=FAMILY_SHARED, revocation_date=2025-02-10
            700 | - | coins | 2025-04-10 | - | 990 | app_transaction_id=7, revocation_date=2025-06-10
            710 | - | coins | 2025-04-10 | - | 990 | app_transaction_id=7
            800 | - | ac.charge | 2025-01-10 | - | 5000 | app_transaction_id=7
            850 | - | coins | 2025-01-10 | - | 990 | app_transaction_id=8, revocation_date=2025-02-10
            900 | - | coins | 2025-05-01 | - | 990 | app_transaction_id=7
            910 | 300 | plus.monthly | 2025-05-10 | 2025-06-10 | 9990 | app_transaction_id=7, web_order_line_item_id=79
            911 | 300 | plus.monthly | 2025-05-10 | 2025-06-10 | 9990 | app_transaction_id=7, web_order_line_item_id=79, revocation_date=2025-05-11
            """
        )
        try await world.run(
            """
            INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits, refund_reason)
            VALUES (1, 'transaction', '800', 0, 0, '2025-01-12 UTC', 1000, 'LEGAL')
            """
        )
        try await world.notify(
            """
            n1 | CONSUMPTION_REQUEST | - | 2025-05-20 | 900 |
            n2 | CONSUMPTION_REQUEST | - | 2025-05-20 | 910 |
            """
        )
        let refunds = "SELECT transaction_id, earlier_refunds FROM refund_requests(1, 36500, '{}') ORDER BY 1"
        // Of 900: 400 with 401, 800, and 910 with 911. Of 910, whose subscription had another app transaction: also 500, and not itself.
        #expect(try await world.answer(refunds) == ["900 3", "910 3"])
    }
}
