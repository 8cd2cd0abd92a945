import LedgerSchema
import TestSupport
import Testing

@testable import Ledger

/// Who has a seat, and how many seats are left.
@Suite(.migratedDatabase)
struct SeatAccessViewTests {
    private func world() async throws -> TestLedger {
        let world = try await TestLedger()
        let app = world.app.rawValue
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, type, in_app_ownership_type, quantity,
                   revoked_seat_quantity, price_milliunits, currency, purchase_date, expires_date, revocation_date, signed_date, payload_sha256, payload,
                   additional_transaction_reason)
            VALUES (\(app), '1', '1', '701', 'Auto-Renewable Subscription', 'PURCHASED', 5, 1, 1000, 'USD', now() - interval '9 days', now() + interval '9 days', NULL, now(), 'x', '{}', 'ADDED'),
                   (\(app), '2', '1', '701', 'Auto-Renewable Subscription', 'PURCHASED', 2, NULL, 1000, 'USD', now() - interval '2 days', now() + interval '9 days', NULL, now(), 'x', '{}', 'ADDED'),
                   (\(app), '3', '1', '704', 'Auto-Renewable Subscription', 'ASSIGNED', 1, NULL, NULL, 'USD', now() - interval '9 days', now() + interval '9 days', NULL, now(), 'x', '{}', NULL),
                   (\(app), '4', '1', '705', 'Auto-Renewable Subscription', 'ASSIGNED', 1, NULL, NULL, 'USD', now() - interval '9 days', now() + interval '9 days', now(), now(), 'x', '{}', NULL);
            INSERT INTO seats (app_id, original_transaction_id, total_seat_count, available_seat_count, asked_at)
            VALUES (\(app), '1', 6, 3, now() - interval '1 hour');
            INSERT INTO seat_claims (app_id, seat_claim_id, original_transaction_id) VALUES (\(app), 'A', '1'), (\(app), 'b', '1'), (\(app), 'c', '1');
            INSERT INTO notifications (app_id, notification_uuid, notification_type, unclaim_seat_ids, signed_date, payload_sha256, payload)
            VALUES (\(app), 'n1', 'UNCLAIM_SEATS', '{a,old}', now() - interval '10 minutes', 'x', '{}'),
                   (\(app), 'n2', 'UNCLAIM_SEATS', '{b}', now() - interval '2 hours', 'x', '{}');
            INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                   rows_invalid, rows_ineligible, rows_duplicate, rows_same)
            SELECT \(app), id::uuid, 'j', action, lpad(right(id, 1), 64, '0'), 0, '{}', 1, 1, 0, 0, 0, 0
              FROM (VALUES ('00000000-0000-0000-0000-000000000001', 'claimSeat'), ('00000000-0000-0000-0000-000000000002', 'associateSeat')) v (id, action);
            INSERT INTO action_rows (app_id, batch_id, position, input, parameters, verdict, state, answer, ended_at)
            VALUES (\(app), '00000000-0000-0000-0000-000000000001', 1, '{}', '{"original_transaction_id": "1", "app_transaction_id": "702"}', 'valid',
                    'succeeded', '{"seatClaimId": "d"}', now() - interval '5 minutes'),
                   (\(app), '00000000-0000-0000-0000-000000000002', 1, '{}', '{"original_transaction_id": "1", "seat_claim_id": "c", "app_transaction_id": "703"}',
                    'valid', 'succeeded', NULL, now());
            """
        )
        return world
    }

    @Test
    func `a claim has access until a notification or an action after it ends it, and its member is the last one named`()
        async throws
    {
        let found = try await world().rows(
            "SELECT coalesce(seat_claim_id, transaction_id), app_transaction_id, has_access FROM seat_access ORDER BY known_from, 1"
        )
        #expect(found == ["(a,,f)", "(b,,t)", "(c,703,t)", "(d,702,t)", "(3,704,t)", "(4,705,f)"])
    }

    @Test func `seats are what all transactions of the period bought less those revoked, and free without a claim`()
        async throws
    {
        let found = try await world().rows(
            """
            SELECT original_transaction_id, seats_bought, seats_revoked, seats, assigned_seats, free_seats, claims_without_seat
              FROM seats_by_subscription
            """
        )
        #expect(found == ["(1,7,1,6,3,3,0)"])
    }
}
