import Foundation
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Actions

/// The cohorts of `jobs/price-change-cohort.yaml`.
@Suite(.migratedDatabase)
struct PriceCohortTests {
    /// Subscribers of the SKU gold for 9.99: those that Apple lets change, and one for each rule that sorts rows out.
    private static let valid = ["1", "2", "3", "4", "13"]

    private func world() async throws -> TestLedger {
        let world = try await TestLedger()
        func each(_ columns: String, _ rest: String) -> String {
            "INSERT INTO \(columns) SELECT \(world.app.rawValue), \(rest);"
        }
        try await world.run(
            """
            CREATE TEMP TABLE s AS SELECT n, n::text AS id FROM generate_series(1, 14) n;
            \(each(
                """
                transactions (app_id, transaction_id, original_transaction_id, type, in_app_ownership_type, storefront, currency, price_milliunits,
                       purchase_date, expires_date, revocation_date, signed_date, payload_sha256, payload)
                """,
                """
                id, id, 'Auto-Renewable Subscription', 'PURCHASED', CASE n WHEN 5 THEN 'IND' ELSE 'USA' END,
                CASE n WHEN 6 THEN 'EUR' ELSE 'USD' END, 9990, now() - interval '10 days',
                now() + CASE n WHEN 7 THEN interval '-1 day' WHEN 8 THEN interval '23 hours' ELSE interval '20 days' END,
                CASE n WHEN 14 THEN now() END, now(), 'x', '{"advancedCommerceInfo": {}}' FROM s
                """
            ))
            \(each(
                """
                renewals (app_id, original_transaction_id, currency, auto_renew_status, renewal_date, is_in_billing_retry_period,
                       grace_period_expires_date, signed_date, payload_sha256, payload)
                """,
                """
                id, 'USD', CASE n WHEN 9 THEN 0 ELSE 1 END, CASE n WHEN 8 THEN now() + interval '23 hours' WHEN 13 THEN NULL
                ELSE now() + interval '20 days' END, n = 10, CASE n WHEN 11 THEN now() + interval '1 day' END, now(), 'x',
                '{"advancedCommerceInfo": {}}' FROM s
                """
            ))
            \(each(
                "advanced_commerce_items (app_id, owner_kind, owner_key, position, sku, price_milliunits, offer_reason, price_increase_status)",
                """
                k, id, 0, 'gold', 9990, CASE n WHEN 12 THEN 'RETENTION' END, CASE n WHEN 4 THEN 'SCHEDULED' END
                FROM s, unnest(ARRAY['transaction', 'renewal']) k
                """
            ))
            """
        )
        return world
    }

    private func actions(_ variables: [String: String], in world: TestLedger) throws -> ActionLedger {
        let path =
            String(#filePath.prefix(upTo: try #require(#filePath.range(of: "/Tests/")).lowerBound))
            + "/jobs/price-change-cohort.yaml"
        let environment = [
            "APPSTORE_BUNDLE_ID": "com.example.game", "APPSTORE_APP_APPLE_ID": "1234567890",
            "APPSTORE_ISSUER_ID": "57246542-96fe-1a63-e053-0824d011072a", "APPSTORE_KEY_ID": "2X9R4HXF34",
            "APPSTORE_PRIVATE_KEY_FILE": "key.p8", "DATABASE_URL": "postgresql:///ledger", "PRICE_SKU": "gold",
            "PRICE_CURRENCY": "USD", "PRICE_MILLIUNITS": "12990",
        ].merging(variables) { $1 }
        let job = try AcceptedJobs.action.parse(
            try String(contentsOfFile: path, encoding: .utf8),
            path: path,
            environment: environment
        )
        return ActionLedger(ledger: world.ledger, app: world.app, job: job)
    }

    /// Plans a cohort, and sends it as if Apple had applied it.
    private func cohort(_ variables: [String: String], in world: TestLedger) async throws -> [String] {
        let actions = try actions(variables, in: world)
        let batch = try await actions.plan(BatchSource(actions.job.input))
        #expect(batch.rows == batch.rowsToSend, "a row that the plan sorts out takes a place in the cohort")
        let id = try #require(
            try await world.value("SELECT batch_id FROM action_batches WHERE rows_sha256 = '\(batch.sha256)'")
        )
        try await world.run(
            """
            UPDATE action_rows SET state = 'succeeded', first_sent_at = now() - interval '3 days' WHERE batch_id = '\(id)';
            UPDATE action_batches SET started_at = now() - interval '3 days', finished_at = now() - interval '3 days' WHERE batch_id = '\(id)'
            """
        )
        return try await world.ledger.transaction { connection in
            try connection.run("SELECT subject FROM action_rows WHERE batch_id = $1::text::uuid", [.text(id)]).map {
                try $0.text("subject")
            }
        }
    }

    @Test func `every subscription that can be changed is in one cohort, and none that the plan would sort out`()
        async throws
    {
        let world = try await world()
        var found: [String] = []
        for _ in 0..<3 {
            found += try await cohort(["COHORT_SIZE": "2", "COHORT_DAYS": "1"], in: world)
        }
        #expect(found.sorted() == Self.valid.sorted())
        // A price that falls is for India too.
        let lower = ["PRICE_MILLIUNITS": "5990", "PRICE_CAMPAIGN": "lower"]
        #expect(try await cohort(lower, in: world).sorted() == (Self.valid + ["5"]).sorted())
    }

    @Test func `a cohort that is too young or has lost too many is named, for its own campaign only`() async throws {
        let world = try await world()
        _ = try await cohort(["COHORT_SIZE": "2"], in: world)
        func refusal(_ variables: [String: String]) async throws -> String {
            let actions = try actions(variables, in: world)
            let error = await #expect(throws: ActionInputError.self) {
                _ = try await actions.plan(BatchSource(actions.job.input))
            }
            return error?.sentence ?? ""
        }
        let young = try await refusal([:])
        #expect(
            young.wholeMatch(
                of:
                    /input\.query: the last cohort was begun at [0-9 :-]+ UTC, less than 35 days ago \(COHORT_DAYS\)\. Nothing was planned/
            ) != nil,
            "\(young)"
        )
        try await world.run(
            "UPDATE renewals SET auto_renew_status = 0 WHERE original_transaction_id IN (SELECT subject FROM action_rows)"
        )
        let churn = try await refusal(["COHORT_DAYS": "1"])
        #expect(
            churn
                == "input.query: 1.0000 of the last cohort was lost, more than 0.08 (MAXIMUM_CHURN). Nothing was planned"
        )
        #expect(
            try await refusal(["COHORT_DAYS": "1", "MAXIMUM_CHURN": "1", "PRICE_SKU": "silver"])
                == "input.query: there are no rows. Nothing was planned"
        )
        // The next price has neither the limits nor the subscribers of the first.
        #expect(try await cohort(["PRICE_CAMPAIGN": "next-price"], in: world).count == Self.valid.count - 2)
        // A check of the query is not refused.
        #expect(try await actions([:], in: world).checkQuery() == "input.query has the columns transaction_id")
    }

    @Test func `the plan counts the prices that change, from what to what`() async throws {
        let world = try await world()
        let actions = try actions(["PRICE_MILLIUNITS": "13"], in: world)
        let batch = try await actions.plan(BatchSource(actions.job.input))
        let change = PriceChange(sku: "gold", currency: "USD", oldPrice: 9_990, newPrice: 13, rows: 6)
        #expect(try await actions.summary(of: batch).prices == [change])
        #expect(change.isLarge)
    }
}
