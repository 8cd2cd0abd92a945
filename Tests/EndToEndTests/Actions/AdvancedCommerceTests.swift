import FoundationEssentials
import TestSupport
import Testing

/// The six calls of the Advanced Commerce API, from an input to what the next crawl shows.
@Suite(.migratedDatabase, .timeLimit(.minutes(15)))
struct AdvancedCommerceTests {
    /// A scene whose ledger also has the renewal info of every subscription.
    private static func with(customers: Int, _ body: (ActionScene) async throws -> Void) async throws {
        try await Stage.with(.init(customers: customers)) { stage in
            var job = stage.job
            job.streams = [
                "transactionHistory: {}", "subscriptionStatuses: {}",
                "notificationHistory: {scope: app, startDate: -2d}",
            ]
            job.limits = """
                {concurrency: 8, share: 1, requestsPerSecond: {transactionHistory: 100000, subscriptionStatuses: 100000,
                   notificationHistory: 100000}}
                """
            let crawl = try stage.write(job)
            try await stage.run(crawl)
            try await body(ActionScene(stage: stage, crawl: crawl))
        }
    }

    private func job(_ action: String) -> ActionScene.Job {
        var job = ActionScene.Job()
        job.name = action.prefix { $0 != ":" }.lowercased()
        job.action = action
        return job
    }

    /// Active subscriptions with Advanced Commerce that will renew, with an SKU that has no offer.
    private func subscriptions(_ scene: ActionScene, _ count: Int) async throws -> [(id: String, sku: String)] {
        let found = try await scene.stage.book().column(
            """
            SELECT c.original_transaction_id || ' ' || max(i.sku)
              FROM current_subscriptions c JOIN renewals r USING (app_id, original_transaction_id)
              JOIN advanced_commerce_items i ON i.app_id = r.app_id AND i.owner_kind = 'renewal'
               AND i.owner_key = r.original_transaction_id AND i.offer_reason IS NULL AND i.price_increase_status IS NULL
             WHERE c.status = 'active' AND r.auto_renew_status = 1 AND c.storefront <> 'IND'
               AND c.ends_at > now() + interval '2 days'
             GROUP BY c.original_transaction_id ORDER BY c.original_transaction_id LIMIT \(count)
            """
        )
        try #require(found.count == count)
        return found.map { row in
            let parts = row.split(separator: " ").map(String.init)
            return (parts[0], parts[1])
        }
    }

    /// Sends a batch whose first answer is lost after Apple has applied the request.
    private func send(
        _ scene: ActionScene,
        _ action: String,
        _ rows: [String],
        header: String
    ) async throws -> [Int: [String: String]] {
        try scene.list(rows, header: header)
        let job = job(action)
        let path = try scene.write(job)
        let plan = try await scene.approve(path)
        #expect(plan.rowsToSend == rows.count, "\(plan.rules)")
        let id = rows[0].prefix { $0 != "," }
        try await scene.stage.store.misbehave(
            """
            {"rules": [{"endpoint": "\(job.endpoint)", "transactionId": "\(id)", "times": 1, "fault": "applyThenDrop"}]}
            """
        )
        _ = try await scene.send(path)
        try scene.expectEveryRowOnce(rows.count)
        return try scene.results("succeeded")
    }

    @Test
    func `AC16 each call is applied once, and 4000097 after a lost answer is found out by its requestReferenceId`()
        async throws
    {
        try await Self.with(customers: 400) { scene in
            let book = try scene.stage.book()
            let subscriptions = try await subscriptions(scene, 5)
            let byReference = "requestReferenceId of the renewal info of "
            func confirmedBy(_ rows: [Int: [String: String]]) -> String? { rows[1]?["outcome_confirmed_by"] }

            // Cancelling twice is like cancelling once, so the second answer is the outcome.
            let cancelled = try await send(
                scene,
                "cancelSubscription: {}",
                [subscriptions[0].id, subscriptions[1].id],
                header: "transaction_id"
            )
            #expect(cancelled.count == 2 && confirmedBy(cancelled) == "")

            let renamed = try await send(
                scene,
                "changeSubscriptionMetadata: {descriptors: {displayName: New shelves, effective: IMMEDIATELY}}",
                [subscriptions[2].id],
                header: "transaction_id"
            )
            #expect(confirmedBy(renamed) == byReference + subscriptions[2].id)

            // The price rises so much that Apple asks for consent, so the second request is refused with 4000205.
            let (id, sku) = subscriptions[3]
            let price = "[{\"\"SKU\"\": \"\"\(sku)\"\", \"\"price\"\": 9000000000}]"
            let raised = try await send(
                scene,
                "changeSubscriptionPrice: {}",
                ["\(id),\"\(price)\""],
                header: "transaction_id,items"
            )
            #expect(confirmedBy(raised) == byReference + id)

            let revoked = try await send(
                scene,
                "revokeSubscription: {refundReason: LEGAL, refundType: FULL, refundRiskingPreference: true}",
                [subscriptions[4].id],
                header: "transaction_id"
            )
            #expect(confirmedBy(revoked) == byReference + subscriptions[4].id)

            let ordinary = try await book.column(
                """
                SELECT c.original_transaction_id FROM current_subscriptions c JOIN renewals r USING (app_id, original_transaction_id)
                 WHERE c.status = 'active' AND NOT c.is_family_shared AND r.advanced_commerce_request_reference_id IS NULL
                   AND r.auto_renew_product_id = r.product_id AND r.price_increase_status IS NULL ORDER BY 1 LIMIT 2
                """
            )
            let migrated = try await send(
                scene,
                """
                migrateSubscription: {targetProductId: com.example.game.ac.subscription, taxCode: C003-00-2,
                    descriptors: {displayName: Plus, description: Everything}, items: [{SKU: plus, displayName: Plus, description: Plus}]}
                """,
                ordinary,
                header: "transaction_id"
            )
            #expect(migrated.count == 2 && confirmedBy(migrated) == byReference + ordinary[0])

            let charge = try await book.column(
                """
                SELECT t.transaction_id || ',' || quote_ident(jsonb_build_array(jsonb_build_object('SKU', i.sku, 'revoke', true,
                           'refundType', 'FULL', 'refundReason', 'FULFILLMENT_ISSUE'))::text)
                  FROM transactions t JOIN advanced_commerce_items i ON i.app_id = t.app_id AND i.owner_kind = 'transaction'
                   AND i.owner_key = t.transaction_id AND i.position = 0
                 WHERE t.type = 'Consumable' AND t.revocation_date IS NULL ORDER BY t.transaction_id LIMIT 1
                """
            )
            let refunded = try await send(
                scene,
                "requestTransactionRefund: {refundRiskingPreference: true}",
                charge,
                header: "transaction_id,items"
            )
            #expect(confirmedBy(refunded)?.hasPrefix("requestReferenceId of transaction ") == true)

            // No request was applied twice.
            let applied = try await scene.applied()
            #expect(applied.count == 8 && applied.allSatisfy { $0.applied == 1 }, "\(applied)")

            // Apple decides the refund, and the crawl brings what it signed.
            _ = try await scene.stage.store.advance(changes: 1)
            try await scene.stage.run(scene.crawl)
            #expect(
                try await book.column(
                    "SELECT action || ' ' || count(*) || ' ' || count(seen_at) FROM actions_confirmed GROUP BY action ORDER BY 1"
                ) == [
                    "cancelSubscription 2 2", "changeSubscriptionMetadata 1 1", "changeSubscriptionPrice 1 1",
                    "migrateSubscription 2 2", "requestTransactionRefund 1 1", "revokeSubscription 1 1",
                ]
            )
            // The customer has accepted the increase, or not.
            #expect(
                try await book.column(
                    """
                    SELECT price_increase_price_milliunits || ' ' || (price_increase_status IN ('PENDING', 'ACCEPTED')) FROM advanced_commerce_items
                     WHERE owner_kind = 'renewal' AND owner_key = '\(id)' AND sku = '\(sku)'
                    """
                ) == ["9000000000 true"]
            )
        }
    }

    @Test func `AC17 a refusal that no local check can foresee has Apple's name in rejected.csv`() async throws {
        try await Self.with(customers: 200) { scene in
            let subscriptions = try await subscriptions(scene, 2)
            try scene.list(subscriptions.map(\.id), header: "transaction_id")
            let path = try scene.write(job("cancelSubscription: {}"))
            try await scene.approve(path)
            // The subscription changes after the plan, so its consistency token is old.
            let book = try scene.stage.book()
            try await book.change("UPDATE action_rows SET consistency_token = '0.old' WHERE position = 1")
            try await scene.stage.store.misbehave(
                """
                {"rules": [{"endpoint": "cancelSubscription", "transactionId": "\(subscriptions[1].id)", "fault": "status",
                    "status": 403, "errorCode": 4030025}]}
                """
            )
            _ = try await scene.send(path, expecting: 2)
            let rejected = try scene.results("rejected")
            #expect(rejected[1]?["outcome_apple_code"] == "4000082")
            #expect(rejected[1]?["outcome_reason"] == "Apple refused it: InvalidConsistencyTokenError")
            #expect(
                rejected[2]?["outcome_reason"] == "Apple refused it: TransactionCannotBeRefundedContactSupportError"
            )
            #expect(try await scene.applied().isEmpty)
        }
    }

    @Test
    func `a price campaign goes on after a kill, and its next cohort waits for the days and the churn of the last`()
        async throws
    {
        try await Self.with(customers: 400) { scene in
            let stage = scene.stage
            let book = try stage.book()
            let kind = try await book.column(
                """
                SELECT i.sku || ' ' || r.currency FROM renewals r JOIN advanced_commerce_items i ON i.app_id = r.app_id
                   AND i.owner_kind = 'renewal' AND i.owner_key = r.original_transaction_id AND i.offer_reason IS NULL
                   AND i.price_increase_status IS NULL
                 WHERE r.auto_renew_status = 1 AND r.renewal_date > now() + interval '2 days' AND r.currency <> 'INR'
                 GROUP BY 1 HAVING count(*) >= 3 ORDER BY count(*) DESC, 1 LIMIT 1
                """
            )
            let words = try #require(kind.first).split(separator: " ").map(String.init)
            // The shipped job, without the limit of a real key.
            let shipped = try String(
                contentsOfFile: Executables.checkout + "/jobs/price-change-cohort.yaml",
                encoding: .utf8
            )
            let action = try #require(shipped.firstRange(of: "\naction:"))
            let output = try #require(shipped.firstRange(of: "\nlimits:"))
            let text = """
                version: 1
                name: price-change-cohort
                \(stage.job.store)\(shipped[action.lowerBound..<output.lowerBound])
                limits: {share: 1, windowSeconds: 10, requestsPerSecond: {changeSubscriptionPrice: 100000, subscriptionStatuses: 100000}}
                output:
                  postgres: {url: "${DATABASE_URL}"}
                  results: {directory: out}

                """
            let path = try stage.write(text, to: "price-change-cohort.yaml")
            func setting(_ name: String) throws -> String {
                let line = try #require(stage.job.store.split(separator: "\n").first { $0.contains(name) })
                return try #require(line.split(separator: ":").last).trimmingPrefix { $0 == " " }.description
            }
            let environment = [
                "APPSTORE_BUNDLE_ID": try setting("bundleId"), "PRICE_SKU": words[0], "PRICE_CURRENCY": words[1],
                "PRICE_MILLIUNITS": "990", "COHORT_SIZE": "2", "COHORT_DAYS": "35", "MAXIMUM_CHURN": "0.4",
            ]
            func actions(_ arguments: String...) async throws -> Stage.Outcome {
                try await stage.withStoreledger(["actions"] + arguments, environment: environment) { process in
                    let code = await process.wait()
                    return Stage.Outcome(code: code, output: process.output, errors: process.errors)
                }
            }
            func approve() async throws -> Int {
                let planned = try await actions("plan", path, "--json")
                try #require(planned.code == 0, "\(planned.errors)")
                let plan = try JSONDecoder().decode(ActionScene.Plan.self, from: Data(planned.output.utf8))
                let approved = try await actions("approve", path, "--batch", plan.batch, "--rows", "\(plan.rowsToSend)")
                #expect(approved.code == 0, "\(approved.errors)")
                return plan.rowsToSend
            }
            #expect(try await approve() == 2)
            var variables = environment
            variables["DATABASE_URL"] = stage.databaseURL()
            variables["STORELEDGER_FAILPOINT"] = "writeAnswered@1=kill"
            let wasKilled = try await withChildProcess(
                Executables.failpoints,
                ["actions", "run", path],
                environment: variables
            ) { process in
                await process.wait()
                return process.errors.contains("failpoint ")
            }
            #expect(wasKilled)
            try await scene.endLeases()
            #expect(try await actions("run", path).code == 0)
            #expect(try scene.results("succeeded").count == 2)
            #expect(try await scene.applied().allSatisfy { $0.applied == 1 })

            // The last cohort is too young, then it is old enough, and then it has lost too many.
            #expect(try await actions("plan", path).code == 65)
            try await book.change("UPDATE action_batches SET started_at = started_at - interval '36 days'")
            #expect(try await approve() >= 1)
            try await book.change(
                """
                UPDATE renewals SET auto_renew_status = 0
                 WHERE original_transaction_id = (SELECT min(subject) FROM action_rows WHERE first_sent_at IS NOT NULL)
                """
            )
            #expect(
                try await book.column("SELECT churn::text FROM price_changes_by_batch WHERE sent > 0") == ["0.5000"]
            )
            #expect(try await actions("plan", path).code == 65)
        }
    }
}
