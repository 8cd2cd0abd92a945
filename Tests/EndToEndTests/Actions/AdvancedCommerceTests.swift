import FoundationEssentials
import TestSupport
import Testing

/// The six calls of the Advanced Commerce API, from an input to what the next crawl shows.
@Suite(.migratedDatabase)
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
        try await scene.stage.store.setFaults(
            """
            {"rules": [{"endpoint": "\(job.endpoint)", "transactionId": "\(id)", "times": 1, "fault": "applyThenDrop"}]}
            """
        )
        _ = try await scene.send(path)
        try scene.expectEveryRowOnce(rows.count)
        return try scene.results("succeeded")
    }

    @Test(.startsEarly)
    func `AC16 each call is applied once, and its requestReferenceId settles a 4000097 after a lost answer`()
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
            // Another batch changes the first subscription after the plan, so its consistency token is old.
            try scene.list([subscriptions[0].id], header: "transaction_id")
            let between = try scene.write(
                job("changeSubscriptionMetadata: {descriptors: {displayName: New shelves, effective: IMMEDIATELY}}")
            )
            try await scene.approve(between)
            _ = try await scene.send(between)
            try await scene.stage.store.setFaults(
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
            #expect(try await scene.applied().map(\.endpoint) == ["changeSubscriptionMetadata"])
        }
    }
}
