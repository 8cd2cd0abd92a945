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

    private static let bought = "WHERE in_app_ownership_type = 'PURCHASED'"
    private static let expired = "UPDATE transactions SET expires_date = now() - interval '1 minute' \(bought)"
    private static let upgraded = "UPDATE transactions SET is_upgraded = true WHERE transaction_id = '1'"

    /// Renewal info of a subscription that expired a minute ago.
    private static func renewal(signed: String, graceUntil: String) -> String {
        """
        \(expired);
        INSERT INTO renewals (app_id, original_transaction_id, signed_date, grace_period_expires_date, payload_sha256, payload)
        SELECT app_id, '1', now() + interval '\(signed)', now() + interval '\(graceUntil)', 'x', '{}' FROM seats
        """
    }

    /// A change of the subscription, and whether it is still active.
    @Test(arguments: [
        ("UPDATE transactions SET revocation_date = now() WHERE transaction_id = '2'", true),
        ("UPDATE transactions SET revocation_date = now() \(bought)", false),
        (expired, false),
        ("\(expired) AND transaction_id = '2'; \(upgraded)", false),
        (renewal(signed: "0", graceUntil: "1 day"), true),
        (renewal(signed: "0", graceUntil: "-1 second"), false),
        (renewal(signed: "-20 days", graceUntil: "1 day"), false),
        ("DELETE FROM transactions", true),
    ])
    func `claims end with their subscription, after its grace period, and then it has no seats`(
        change: String,
        isActive: Bool
    ) async throws {
        let world = try await world()
        try await world.run(change)
        let claims = try await world.rows(
            """
            SELECT seat_claim_id, has_access, ended_at <= now() AS has_ended FROM seat_access
             WHERE known_from = 'seat claim' ORDER BY 1
            """
        )
        let seats = try await world.rows(
            "SELECT seats, assigned_seats, free_seats, claims_without_seat, available_seat_count FROM seats_by_subscription"
        )
        if isActive {
            #expect(claims == ["(a,f,t)", "(b,t,)", "(c,t,)", "(d,t,)"] && seats == ["(6,3,3,0,3)"])
        } else {
            #expect(claims == ["(a,f,t)", "(b,f,t)", "(c,f,t)", "(d,f,t)"] && seats == ["(0,0,0,0,3)"])
        }
    }
}
