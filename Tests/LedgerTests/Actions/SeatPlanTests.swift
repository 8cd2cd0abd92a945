import Actions
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Erasure

/// Apple's rules for seats that the ledger checks before anything is sent.
@Suite(.migratedDatabase)
struct SeatPlanTests {
    /// Subscriptions 1 (active, DEVELOPER, two of five seats free), 2 (APPLE), 3 (expired), 4 (no seats asked for) and
    /// 5 (revoked).
    private func world() async throws -> TestLedger {
        let world = try await TestLedger()
        let app = world.app.rawValue
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, type, in_app_ownership_type, quantity,
                   invitation_management, purchase_date, expires_date, revocation_date, signed_date, payload_sha256, payload)
            SELECT \(app), id, id, '70' || id, 'Auto-Renewable Subscription', 'PURCHASED', 5, management, now() - interval '10 days',
                   now() + ends::interval, revoked::timestamptz, now(), 'x', '{}'
              FROM (VALUES ('1', 'DEVELOPER', '20 days', NULL), ('2', 'APPLE', '20 days', NULL), ('3', 'DEVELOPER', '-1 day', NULL),
                           ('4', 'DEVELOPER', '20 days', NULL), ('5', 'DEVELOPER', '20 days', '2026-01-01')) v (id, management, ends, revoked);
            INSERT INTO seats (app_id, original_transaction_id, total_seat_count, available_seat_count, asked_at)
            VALUES (\(app), '1', 5, 2, now() - interval '1 hour');
            INSERT INTO seat_claims (app_id, original_transaction_id, seat_claim_id)
            SELECT \(app), id::text, '7E3FB20B-4CDB-47CC-936D-99D65F60000' || id FROM (VALUES (1), (2), (3), (5)) v (id);
            """
        )
        return world
    }

    private func plan(_ action: String, _ columns: String, _ rows: String, in world: TestLedger) async throws
        -> [String]
    {
        let text = """
            version: 1
            name: seats
            app: {bundleId: com.example.game, environment: Sandbox}
            appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
            action: {\(action): {}}
            input: {query: "SELECT * FROM (VALUES \(rows)) v (\(columns))"}
            output: {postgres: {url: "postgresql:///ledger"}}

            """
        let job = try AcceptedJobs.action.parse(text, path: "/jobs/seats.yaml", environment: [:])
        let batches = ActionLedger(ledger: world.ledger, app: world.app, job: job)
        let batch = try await batches.plan(BatchSource(job.input))
        return try await world.ledger.transaction { connection in
            try connection.run(
                "SELECT coalesce(rule, verdict) AS found FROM action_rows WHERE batch_id = $1 ORDER BY position",
                [.uuid(batch.id)]
            ).map { try $0.text("found") }
        }
    }

    private let claim = "original_transaction_id, app_transaction_id"

    @Test func `GS1 a batch claims no more seats than are free, and a row that takes none leaves its seat to the next`()
        async throws
    {
        let found = try await plan(
            "claimSeat",
            claim,
            "('1', '801'), ('1', '801'), ('1', NULL), ('1', NULL), ('4', NULL), ('4', NULL)",
            in: world()
        )
        #expect(found == ["valid", "duplicate", "valid", "no_free_seat", "valid", "valid"])
    }

    @Test func `GS2 the same member twice in one subscription is a duplicate, in two subscriptions it is not`()
        async throws
    {
        let found = try await plan("claimSeat", claim, "('1', '801'), ('4', '801'), ('4', '801')", in: world())
        #expect(found == ["valid", "valid", "duplicate"])
    }

    @Test(arguments: ["claimSeat", "unclaimSeat", "associateSeat"])
    func `GS3 a subscription whose members Apple invites, or that is over, revoked or unknown, gets no seat request`(
        action: String
    ) async throws {
        let columns =
            switch action {
            case "claimSeat": claim
            case "unclaimSeat": "original_transaction_id, seat_claim_id"
            default: "original_transaction_id, seat_claim_id, app_transaction_id"
            }
        let rows = ["1", "2", "3", "5", "99"].map { id in
            let claimID = "'7e3fb20b-4cdb-47cc-936d-99d65f60000\(id.prefix(1))'"
            return switch action {
            case "claimSeat": "('\(id)', '801')"
            case "unclaimSeat": "('\(id)', \(claimID))"
            default: "('\(id)', \(claimID), '801')"
            }
        }.joined(separator: ", ")
        let found = try await plan(action, columns, rows, in: world())
        #expect(found == ["valid", "not_developer_managed", "not_active", "revoked", "not_in_ledger"])
    }

    @Test(arguments: ["unclaimSeat", "associateSeat"])
    func `GS9 a claim that the ledger does not know under the subscription is not sent`(action: String) async throws {
        let world = try await world()
        _ = try await plan("claimSeat", claim, "('4', '801')", in: world)
        try await world.run(
            """
            UPDATE action_batches SET approval_required = false, started_at = now(), finished_at = now();
            UPDATE action_rows SET state = 'succeeded', ended_at = now(), first_sent_at = now(), request_id = gen_random_uuid(),
                   answer = '{"seatClaimId": "7E3FB20B-4CDB-47CC-936D-99D65F600004"}';
            INSERT INTO apps (app_id, bundle_id, environment) OVERRIDING SYSTEM VALUE VALUES (77, 'com.example.other', 'Sandbox');
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
            VALUES (77, '88', '88', now(), 'x', '{}')
            """
        )
        let rows = [("1", 1), ("4", 4), ("1", 2), ("1", 9), ("88", 8)].map { id, claim in
            "('\(id)', '7e3fb20b-4cdb-47cc-936d-99d65f60000\(claim)'\(action == "associateSeat" ? ", '801'" : ""))"
        }.joined(separator: ", ")
        let columns = "original_transaction_id, seat_claim_id\(action == "associateSeat" ? ", app_transaction_id" : "")"
        let found = try await plan(action, columns, rows, in: world)
        #expect(found == ["valid", "valid", "other_subscription", "unknown_claim", "other_app"])
    }

    @Test func `a member whose seat was taken back can claim another one`() async throws {
        let world = try await world()
        #expect(try await plan("claimSeat", claim, "('4', '801')", in: world) == ["valid"])
        try await world.run(
            """
            UPDATE action_batches SET approval_required = false, started_at = now(), finished_at = now();
            UPDATE action_rows SET state = 'succeeded', ended_at = now(), first_sent_at = now(), request_id = gen_random_uuid(),
                   answer = '{"seatClaimId": "7e3fb20b-4cdb-47cc-936d-99d65f608138"}'
            """
        )
        #expect(try await plan("claimSeat", claim, "('4', '801')", in: world) == ["same_as_batch"])
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, unclaim_seat_ids, signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), gen_random_uuid(), 'UNCLAIM_SEATS', '{7E3FB20B-4CDB-47CC-936D-99D65F608138}', now(), 'x', '{}')
            """
        )
        #expect(try await plan("claimSeat", claim, "('4', '801')", in: world) == ["valid"])
    }

    @Test func `an erasure clears the rows of a purchaser and of a member, and no others`() async throws {
        let world = try await world()
        _ = try await plan("claimSeat", claim, "('1', '801'), ('4', '802'), ('4', NULL)", in: world)
        _ = try await world.ledger.erase([.transaction("1"), .appTransaction("802")], in: [world.app])
        #expect(
            try await world.rows("SELECT position, parameters IS NULL, state FROM action_rows ORDER BY 1")
                == ["(1,t,cancelled)", "(2,t,cancelled)", "(3,f,planned)"]
        )
    }
}
