import Postgres
import TestSupport
import Testing

/// The funnel of price changes, against a world small enough to be worked out by hand.
@Suite(.migratedDatabase)
struct PriceChangeViewTests {
    @Test func `price_changes_by_batch: each cohort's subscriptions are informed, accept, and renew or are lost`()
        async throws
    {
        let world = try await TestLedger()
        // The cohort was sent ten days ago.
        try await world.buy(
            """
            a1 | - | plus | now -40 days | now -9 days  | 9990  |
            a2 | a1 | plus | now -9 days | now +21 days | 12990 |                    # renewed at the new price
            b1 | - | plus | now -20 days | now +10 days | 9990  |                    # accepted, not renewed yet
            c1 | - | plus | now -20 days | now +10 days | 9990  |                    # turned automatic renewal off
            d1 | - | plus | now -40 days | now -8 days  | 9990  |                    # expired
            e1 | - | plus | now -20 days | now +10 days | 9990  | revocation_date=now -2 days
            f1 | - | plus | now -20 days | now +10 days | 9990  |                    # informed, no answer
            g1 | - | plus | now -20 days | now +10 days | 9990  |                    # Apple refused the change
            """
        )
        try await world.renewal(
            """
            a1 | now -9 days  | auto_renew_status=1
            b1 | now -9 days  | auto_renew_status=1
            c1 | now -9 days  | auto_renew_status=0
            f1 | now -9 days  | auto_renew_status=1
            """
        )
        try await world.notify(
            """
            n1 | PRICE_CHANGE   | -        | now -10 days | a1 | original_transaction_id=a1
            n2 | PRICE_INCREASE | ACCEPTED | now -9 days  | b1 | original_transaction_id=b1
            n3 | PRICE_INCREASE | PENDING  | now -10 days | f1 | original_transaction_id=f1
            n4 | PRICE_INCREASE | ACCEPTED | now -50 days | c1 | original_transaction_id=c1  # of an earlier increase
            """
        )
        let batch = "11111111-1111-5111-8111-111111111111"
        let rows = ["a1", "b1", "c1", "d1", "e1", "f1"].enumerated().map { place, id in
            "(1, '\(batch)', \(place + 1), '{}', '\(id)', 'valid', 'succeeded', now() - interval '10 days')"
        }
        try await world.run(
            """
            INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                   rows_invalid, rows_ineligible, rows_duplicate, rows_same)
            VALUES (1, '\(batch)', 'campaign', 'changeSubscriptionPrice', repeat('a', 64), 0, '{}', 8, 7, 0, 1, 0, 0);
            INSERT INTO action_rows (app_id, batch_id, position, input, subject, verdict, state, first_sent_at) VALUES
                \(rows.joined(separator: ",\n")),
                (1, '\(batch)', 7, '{}', 'g1', 'valid', 'rejected', now() - interval '10 days'),
                (1, '\(batch)', 8, '{}', 'h1', 'ineligible', 'skipped', NULL)
            """
        )
        #expect(
            try await world.rows(
                """
                SELECT job, planned, sent, communicated, accepted, renewed, lost, undecided, churn, expired FROM price_changes_by_batch
                """
            ) == ["(campaign,7,6,3,2,1,3,2,0.5000,1)"]
        )
    }
}
