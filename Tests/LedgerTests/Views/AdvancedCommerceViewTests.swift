import TestSupport
import Testing

/// What the views say of the items of Advanced Commerce purchases.
@Suite(.migratedDatabase)
struct AdvancedCommerceViewTests {
    /// Files items, one a line: `owner kind | owner | position | SKU | price | column=value, …`.
    private func items(_ lines: String, in world: TestLedger) async throws {
        for line in lines.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
                String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            let more = cells[5].split(separator: ";").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
            let names = more.map { ", \($0[0])" }.joined()
            let values = more.map { ", \($0[1])" }.joined()
            try await world.run(
                """
                INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position, sku, price_milliunits, currency\(names))
                VALUES (1, '\(cells[0])', '\(cells[1])', \(cells[2]), '\(cells[3])', \(cells[4]), 'USD'\(values))
                """
            )
        }
    }

    @Test func `current_advanced_commerce_items has what is paid for now, with offers and next prices`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | ac | now -40 days | now -10 days | 5000 |
            a2 | a | ac | now -10 days | now +20 days | 8000 | advanced_commerce_period=P1M
            b  | b | ac | now -40 days | now -10 days | 5000 |
            c  | c | ac | now -31 days | now -1 days  | 5000 |
            d  | d | ac | now -10 days | now +20 days | 5000 | revocation_date=now -1 days
            e  | e | ac | now -10 days | now +20 days | 5000 | in_app_ownership_type=FAMILY_SHARED
            f  | f | ac | now -10 days | now +20 days | 5000 |
            """
        )
        try await world.renewal(
            """
            a | now -9 days | auto_renew_status=1, renewal_date=now +20 days
            c | now -1 days | auto_renew_status=1, grace_period_expires_date=now +5 days
            f | now -9 days | auto_renew_status=0, renewal_date=now +20 days
            """
        )
        try await items(
            """
            transaction | a1 | 0 | old   | 5000 |
            transaction | a2 | 0 | news  | 5000 |
            transaction | a2 | 1 | films | 4000 | offer_price_milliunits=3000;offer_reason='WIN_BACK'
            transaction | a2 | 2 | songs | 1000 | revocation_date=now()
            renewal     | a  | 0 | films | 4500 | price_increase_price_milliunits=4900;price_increase_status='PENDING'
            renewal     | a  | 2 | news  | 5000 | price_increase_price_milliunits=5500;price_increase_status='ACCEPTED'
            renewal     | a  | 1 | extra | 1000 |
            transaction | b  | 0 | news  | 5000 |
            transaction | c  | 0 | news  | 5000 |
            transaction | d  | 0 | news  | 5000 |
            transaction | e  | 0 | news  | 5000 |
            transaction | f  | 0 | news  | 5000 |
            renewal     | f  | 0 | news  | 5000 |
            renewal     | c  | 0 | news  | 5000 | offer_price_milliunits=2500
            """,
            in: world
        )
        #expect(
            try await world.answer(
                """
                SELECT original_transaction_id, transaction_id, status, sku, price_milliunits, paid_milliunits, will_renew, next_price_milliunits, paid_amount
                  FROM current_advanced_commerce_items ORDER BY 1, position
                """
            ) == [
                "a a2 active news 5000 5000 t 5500 5.000", "a a2 active films 4000 3000 t 4500 3.000",
                "c c grace period news 5000 5000 t 2500 5.000", "f f active news 5000 5000 f - 5.000",
            ]
        )
    }

    @Test func `pending_price_changes has increases with the consent, and decreases, until the renewal`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | ac | now -40 days | now -10 days | 5000 |
            a2 | a | ac | now -10 days | now +20 days | 8000 | app_transaction_id=9
            b  | b | ac | now -40 days | now -10 days | 5000 |
            """
        )
        try await world.renewal(
            """
            a | now -9 days | auto_renew_status=1, renewal_date=now +20 days, currency=USD
            b | now -9 days | auto_renew_status=1, renewal_date=now -10 days, currency=USD
            n | now -9 days | auto_renew_status=0, renewal_date=now +20 days, currency=USD
            """
        )
        try await items(
            """
            transaction | a1 | 0 | same    | 9000 |
            transaction | a2 | 0 | rising  | 5000 | offer_price_milliunits=100
            transaction | a2 | 1 | falling | 4000 |
            transaction | a2 | 2 | same    | 1000 |
            renewal     | a  | 0 | rising  | 5000 | price_increase_price_milliunits=6000;price_increase_status='PENDING';price_increase_dependent_skus='{same}'
            renewal     | a  | 1 | falling | 3000 |
            renewal     | a  | 2 | same    | 1000 | offer_price_milliunits=500
            renewal     | a  | 3 | new     | 2000 |
            transaction | b  | 0 | news    | 5000 |
            renewal     | b  | 0 | news    | 5000 | price_increase_price_milliunits=6000;price_increase_status='ACCEPTED'
            renewal     | n  | 0 | news    | 5000 | price_increase_price_milliunits=7000;price_increase_status='SCHEDULED'
            """,
            in: world
        )
        #expect(
            try await world.answer(
                """
                SELECT original_transaction_id, sku, direction, consent, array_to_string(dependent_skus, '+') AS dependent,
                       old_price_milliunits, new_price_milliunits, will_renew, customer_key
                  FROM pending_price_changes ORDER BY 1, position
                """
            ) == [
                "a rising increase PENDING same 5000 6000 t 9", "a falling decrease - - 4000 3000 t 9",
                "n news increase SCHEDULED - 5000 7000 f n",
            ]
        )
    }

    @Test func `advanced_commerce_refunds_by_month adds up refunds by item, reason and type, once for each purchase`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | - | ac | 2025-01-10 | - | 5000 |
            b | - | ac | 2025-01-10 | - | 5000 |
            c | b | ac | 2025-01-10 | - | 5000 |
            """
        )
        // Apple's history has the purchase b under the ID c.
        try await world.run(
            "UPDATE transactions SET original_transaction_id = 'b', web_order_line_item_id = '7' WHERE transaction_id IN ('b', 'c')"
        )
        try await items(
            """
            transaction | a | 0 | song | 2000 |
            transaction | a | 1 | film | 3000 |
            transaction | b | 0 | film | 5000 |
            transaction | c | 0 | film | 5000 |
            """,
            in: world
        )
        try await world.run(
            """
            INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits, currency, refund_type, refund_reason) VALUES
                (1, 'transaction', 'a', 1, 0, '2025-01-31 23:59 UTC', 1000, 'USD', 'CUSTOM', 'LEGAL'),
                (1, 'transaction', 'a', 1, 1, '2025-01-12 UTC', 500, 'USD', 'CUSTOM', 'LEGAL'),
                (1, 'transaction', 'b', 0, 0, '2025-01-20 UTC', 2000, 'USD', 'CUSTOM', 'LEGAL'),
                (1, 'transaction', 'b', 0, 1, '2025-02-01 UTC', 3000, 'USD', 'FULL', NULL),
                (1, 'transaction', 'c', 0, 0, '2025-01-20 UTC', 2000, 'USD', 'CUSTOM', 'LEGAL'),
                (1, 'transaction', 'c', 0, 1, '2025-02-01 UTC', 3000, 'USD', 'FULL', NULL),
                (1, 'transaction', 'a', 0, 0, '2025-01-12 UTC', 2000, 'USD', 'FULL', 'OTHER')
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT month, sku, currency, refund_reason, refund_type, refunds, transactions, refunded_milliunits, refunded_amount
                  FROM advanced_commerce_refunds_by_month ORDER BY 1, 2, 4
                """
            ) == [
                "2025-01-01 film USD LEGAL CUSTOM 3 2 3500 3.500", "2025-01-01 song USD OTHER FULL 1 1 2000 2.000",
                "2025-02-01 film USD - FULL 1 1 3000 3.000",
            ]
        )
    }
}
