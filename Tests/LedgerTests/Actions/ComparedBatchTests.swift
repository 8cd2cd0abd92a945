import ActionKinds
import AppStoreModel
import Erasure
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Actions

/// Whether the rows of a batch are still what its plan froze.
@Suite(.migratedDatabase)
struct ComparedBatchTests {
    private static let token = "11111111-1111-4111-8111-111111111111"

    private func job(_ section: String) throws -> ActionJob {
        let text = """
            version: 1
            name: campaign
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
            appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
            \(section)
            output: {postgres: {url: "postgresql:///ledger"}}

            """
        return try AcceptedJobs.action.parse(text, path: "/jobs/campaign.yaml", environment: [:])
    }

    /// Subscriptions 100000000001 to 100000000006, and a refund request for each but the last.
    private func world() async throws -> TestLedger {
        let world = try await TestLedger()
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, type, product_id, in_app_ownership_type, storefront, currency,
                   price_milliunits, purchase_date, expires_date, app_account_token, signed_date, payload_sha256, payload)
            SELECT \(world.app.rawValue), (100000000000 + n)::text, (100000000000 + n)::text, 'Auto-Renewable Subscription', 'plus', 'PURCHASED',
                   'USA', 'USD', n, now() - interval '10 days', now() + interval '20 days', CASE WHEN n = 1 THEN '\(Self.token)'::uuid END,
                   now(), 'x', '{}'
              FROM generate_series(1, 6) n;
            INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, original_transaction_id, signed_date,
                   consumption_request_reason, payload_sha256, payload)
            SELECT app_id, 'n' || transaction_id, 'CONSUMPTION_REQUEST', transaction_id, original_transaction_id, now() - interval '1 hour',
                   CASE WHEN price_milliunits IN (2, 4) THEN 'LEGAL' ELSE 'OTHER' END, 'x', '{}'
              FROM transactions WHERE price_milliunits < 6
            """
        )
        return world
    }

    /// Batches with every verdict that a plan gives, as job sections.
    private static let sections = [
        (
            """
            action: {extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}}
            input:
              query: SELECT * FROM unnest(ARRAY['100000000001', '100000000002', 'x', '99', '100000000002', '100000000006']) AS ids (original_transaction_id)
            """, ["valid", "valid", "invalid", "ineligible", "duplicate", "same"]
        ),
        (
            """
            action:
              sendConsumptionInformation:
                customerConsented: {query: "SELECT transaction_id FROM transactions WHERE price_milliunits <> 3"}
                policy:
                  - {when: {consumptionRequestReasons: [LEGAL]}, answer: none}
                  - {answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: DECLINE}}
            """, ["valid", "ineligible", "invalid", "ineligible", "valid"]
        ),
        (
            """
            action:
              sendConsumptionInformation: {customerConsented: true, policy: [{answer: none}]}
            """, ["ineligible", "ineligible", "ineligible", "ineligible", "ineligible"]
        ),
    ]

    /// Plans the batch of a section of ``sections``.
    private func plan(_ section: Int, in world: TestLedger) async throws -> (ActionLedger, ActionBatch) {
        let first =
            "action: {extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}}\ninput: {query: SELECT '100000000006' AS original_transaction_id}"
        let earlier = ActionLedger(ledger: world.ledger, app: world.app, job: try job(first))
        if section == 0 {
            _ = try await earlier.plan(BatchSource(earlier.job.input))
            try await world.run(
                """
                UPDATE action_batches SET approved_at = now(), approved_rows = 1, approval_expires_at = now() + interval '1 day', started_at = now();
                UPDATE action_rows SET state = 'succeeded', first_sent_at = now()
                """
            )
        }
        let actions = ActionLedger(ledger: world.ledger, app: world.app, job: try job(Self.sections[section].0))
        let batch = try await actions.plan(BatchSource(actions.job.input))
        let verdicts = try await world.rows(
            "SELECT verdict FROM action_rows WHERE batch_id = (SELECT max(batch_id::text)::uuid FROM action_batches WHERE started_at IS NULL) ORDER BY position"
        )
        #expect(verdicts == Self.sections[section].1.map { "(\($0))" })
        try await world.run("CREATE TABLE planned_rows AS SELECT * FROM action_rows")
        return (actions, batch)
    }

    /// What each row of the newest batch can be changed to.
    private static let changes = [
        "UPDATE action_rows SET parameters = coalesce(parameters, '{}') || '{\"delivery_status\": \"UNDELIVERED_OTHER\", \"extend_by_days\": 90}'",
        "UPDATE action_rows SET parameters = NULL",
        "UPDATE action_rows SET input = input || 'more'::text",
        "UPDATE action_rows SET subject = '100000000009'",
        "UPDATE action_rows SET verdict = 'valid', consistency_token = 'token'",
        "UPDATE action_rows SET stake_milliunits = coalesce(stake_milliunits, 0) + 1",
        "UPDATE action_rows SET currency = coalesce(currency, '') || 'X'",
        "UPDATE action_rows SET expires_date_before = coalesce(expires_date_before, now()) - interval '1 millisecond'",
        "UPDATE action_rows SET transaction_id_before = coalesce(transaction_id_before, '') || '1'",
        "UPDATE action_rows SET send_by = coalesce(send_by, now()) + interval '1 hour'",
        "UPDATE action_rows SET request_reference_id_before = 'reference'",
        "UPDATE action_rows SET consistency_token = 'token'",
        "UPDATE action_rows SET salt = gen_random_uuid()",
        "UPDATE action_rows SET salt = NULL, parameters = '{}'",
        "DELETE FROM action_rows",
    ]

    /// Changes each row of a batch in each way, and expects that the comparison names it; `without` are rows that are cleared.
    private func tamper(_ actions: ActionLedger, _ batch: ActionBatch, in world: TestLedger, without: Set<Int64> = [])
        async throws
    {
        // The owner of the table can do what the trigger refuses to others.
        try await world.run("ALTER TABLE action_rows DISABLE TRIGGER refuse_late_rows")
        try await world.run("DROP TABLE planned_rows; CREATE TABLE planned_rows AS SELECT * FROM action_rows")
        let id = try #require(
            try await world.value("SELECT batch_id FROM action_batches WHERE rows_sha256 = '\(batch.sha256)'")
        )
        for position in 1...batch.rows where !without.contains(position) {
            for change in Self.changes {
                // Nothing is there to be removed from a row that has no values, and nothing was sent of it.
                let wasEmpty =
                    try await world.count(
                        "action_rows WHERE batch_id = '\(id)' AND position = \(position) AND parameters IS NULL"
                    ) == 1
                if wasEmpty, change.hasSuffix("parameters = NULL") { continue }
                try await world.run("\(change) WHERE batch_id = '\(id)' AND position = \(position)")
                await #expect(
                    throws: ActionRefusal.self,
                    "row \(position) of \(actions.job.action.name.rawValue): \(change)"
                ) {
                    _ = try await actions.compare(batch)
                }
                try await world.run("DELETE FROM action_rows; INSERT INTO action_rows SELECT * FROM planned_rows")
            }
        }
        try await world.run(
            """
            INSERT INTO action_rows (app_id, batch_id, position, input, verdict, state)
            VALUES (\(world.app.rawValue), '\(id)', \(batch.rows + 1), '{}', 'invalid', 'skipped')
            """
        )
        await #expect(throws: ActionRefusal.self, "an added row") { _ = try await actions.compare(batch) }
        try await world.run("DELETE FROM action_rows; INSERT INTO action_rows SELECT * FROM planned_rows")
    }

    @Test(arguments: sections.indices)
    func
        `AI13 every row of a batch is compared with the plan, and an erased row takes only its own comparison away`(
            section: Int
        )
        async throws
    {
        let world = try await world()
        let (actions, batch) = try await plan(section, in: world)
        #expect(try await actions.compare(batch) == .complete)
        try await tamper(actions, batch, in: world)
        #expect(try await actions.compare(batch) == .complete)

        _ = try await world.ledger.erase([.transaction(try #require(TransactionID("100000000001")))], in: [world.app])
        #expect(try await actions.compare(batch) == .withoutErased)
        try await tamper(actions, batch, in: world, without: [1])
        #expect(try await actions.compare(batch) == .withoutErased)
        let hash = try await world.value("SELECT encode(salted_sha256, 'hex') FROM action_rows WHERE salt IS NULL")
        #expect(hash?.count == 64)
        // A cleared row gets no values back.
        try await world.run("UPDATE action_rows SET parameters = '{}' WHERE salt IS NULL")
        await #expect(throws: ActionRefusal.self) {
            _ = try await actions.compare(batch)
        }
    }

    @Test func `a batch without a row to send is no error, and needs no approval`() async throws {
        let world = try await world()
        let (actions, batch) = try await plan(2, in: world)
        #expect(batch.rowsToSend == 0 && batch.requiresApproval)
        #expect(try await actions.batchesToSend().isEmpty)
        #expect(try await actions.batchFinding() == "no row of the newest batch would be sent")
        await #expect(throws: ActionRefusal.nothingToSend(hash: batch.sha256)) {
            _ = try await actions.approve(batch.sha256, rows: 0)
        }
    }

    @Test func `two plans whose verdicts are swapped have two hashes, and the IDs of their requests stay`() async throws
    {
        let world = try await world()
        let section = """
            action: {extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}}
            input:
              query: SELECT * FROM unnest(ARRAY['100000000001', '100000000002']) AS ids (original_transaction_id)
            """
        let actions = ActionLedger(ledger: world.ledger, app: world.app, job: try job(section))
        func plan(revoked: Int) async throws -> ActionBatch {
            try await world.run(
                "UPDATE transactions SET revocation_date = CASE WHEN price_milliunits = \(revoked) THEN timestamptz '2026-01-01' END"
            )
            return try await actions.plan(BatchSource(actions.job.input))
        }
        let first = try await plan(revoked: 2)
        let second = try await plan(revoked: 1)
        let again = try await plan(revoked: 2)
        #expect([first, second, again].map(\.rowsToSend) == [1, 1, 1])
        #expect(first.sha256 != second.sha256 && first.sha256 == again.sha256)
        // They follow from the input, so that a lost ledger gives the same IDs.
        #expect(first.id == second.id && first.parametersSHA256 == second.parametersSHA256)
        await #expect(throws: ActionRefusal.unknownHash(found: second.sha256, job: actions.job.name)) {
            _ = try await actions.approve(second.sha256, rows: 1)
        }
    }
}
