import Actions
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

/// Apple's rules for Advanced Commerce that the ledger checks before anything is sent.
@Suite(.migratedDatabase)
struct AdvancedCommercePlanTests {
    /// One subscription or purchase in the ledger, with one item `a` of 9.99 and one item `b` of 4.99 in each period.
    private struct Purchase {
        var id: String
        var original: String?
        var type = "Auto-Renewable Subscription"
        var storefront = "USA"
        var currency = "USD"
        /// PostgreSQL intervals from now.
        var bought = "-10 days"
        var expires = "20 days"
        var revoked: String?
        var hasCommerce = true
        var reference: String? = "11111111-1111-5111-8111-111111111111"
        /// Values of `renewals`, by column; `nil` for a purchase without renewal info.
        var renewal: [String: String]? = [:]
        /// Values of `advanced_commerce_items`, by SKU and column.
        var items: [String: [String: String]] = [:]
        /// What was refunded of item `a`, in milliunits.
        var refunded: Int?
    }

    private func add(_ purchase: Purchase, to world: TestLedger) async throws {
        let original = purchase.original ?? purchase.id
        func quoted(_ text: String?) -> String { text.map { "'\($0)'" } ?? "NULL" }
        let commerce = purchase.hasCommerce ? #"{"advancedCommerceInfo": {}}"# : "{}"
        var script = """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, type, in_app_ownership_type, storefront, currency,
                   price_milliunits, purchase_date, expires_date, revocation_date, advanced_commerce_request_reference_id,
                   signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), '\(purchase.id)', '\(original)', '\(purchase.type)', 'PURCHASED', '\(purchase.storefront)',
                   '\(purchase.currency)', 14980, now() + interval '\(purchase.bought)', now() + interval '\(purchase.expires)',
                   \(purchase.revoked.map { "now() + interval '\($0)'" } ?? "NULL"), \(quoted(purchase.reference)), now(),
                   'x', '\(commerce)');
            """
        var owners = ["transaction": purchase.id]
        if let renewal = purchase.renewal {
            owners["renewal"] = original
            var values = [
                "product_id": "'plus'", "auto_renew_product_id": "'plus'", "auto_renew_status": "1",
                "renewal_date": "now() + interval '\(purchase.expires)'",
                "advanced_commerce_request_reference_id": quoted(purchase.reference),
                "advanced_commerce_consistency_token": purchase.hasCommerce ? "'1.\(original)'" : "NULL",
            ]
            values.merge(renewal) { $1 }
            let columns = values.keys.sorted()
            script += """
                INSERT INTO renewals (app_id, original_transaction_id, signed_date, payload_sha256, payload, \(columns.joined(separator: ", ")))
                VALUES (\(world.app.rawValue), '\(original)', now(), 'x', '\(commerce)', \(columns.compactMap { values[$0] }.joined(separator: ", ")))
                ON CONFLICT DO NOTHING;
                """
        }
        guard purchase.hasCommerce else { return try await world.run(script) }
        for (kind, key) in owners {
            for (position, sku) in ["a", "b"].enumerated() {
                let values = purchase.items[sku] ?? [:]
                let columns = values.keys.sorted()
                script += """
                    INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position, sku, price_milliunits
                           \(columns.map { ", \($0)" }.joined()))
                    VALUES (\(world.app.rawValue), '\(kind)', '\(key)', \(position), '\(sku)', \(sku == "a" ? 9_990 : 4_990)
                           \(columns.compactMap { values[$0] }.map { ", \($0)" }.joined()))
                    ON CONFLICT DO NOTHING;
                    """
            }
        }
        if let refunded = purchase.refunded {
            script += """
                INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_amount_milliunits)
                VALUES (\(world.app.rawValue), 'transaction', '\(purchase.id)', 0, 0, \(refunded));
                """
        }
        try await world.run(script)
    }

    /// The verdicts of a plan, or the rules that sorted rows out, in the order of the input `rows`, a SELECT.
    private func plan(
        _ action: String,
        _ rows: String,
        in world: TestLedger,
        environment: String = "Production"
    ) async throws -> [String] {
        _ = try await summary(action, rows, in: world, environment: environment)
        return try await world.ledger.transaction { connection in
            try connection.run(
                """
                SELECT coalesce(rule, verdict) AS found FROM action_rows r JOIN action_batches b USING (app_id, batch_id)
                 ORDER BY b.planned_at, r.position
                """,
                []
            ).map { try $0.text("found") }
        }
    }

    /// Plans the rows of `rows`, a SELECT.
    private func summary(
        _ action: String,
        _ rows: String,
        in world: TestLedger,
        environment: String = "Production"
    ) async throws -> BatchSummary {
        let text = """
            version: 1
            name: campaign
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: \(environment)}
            appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
            action: {\(action)}
            input:
              query: |
                \(rows)
            output: {postgres: {url: "postgresql:///ledger"}}

            """
        let job = try AcceptedJobs.action.parse(text, path: "/jobs/campaign.yaml", environment: [:])
        let batches = ActionLedger(ledger: world.ledger, app: world.app, job: job)
        return try await batches.summary(of: batches.plan(BatchSource(job.input)))
    }

    private let prices = "changeSubscriptionPrice: {items: [{SKU: a, price: 12990}]}"

    /// `SELECT '1' AS transaction_id UNION ALL …`, in order.
    private func ids(_ ids: String...) -> String {
        "SELECT id AS transaction_id FROM unnest(ARRAY[\(ids.map { "'\($0)'" }.joined(separator: ", "))]) WITH ORDINALITY u (id, n) ORDER BY n"
    }

    @Test func `AC12 a price change that Apple refuses is sorted out with its rule`() async throws {
        let world = try await TestLedger()
        let purchases: [(rule: String, purchase: Purchase)] = [
            ("valid", Purchase(id: "1")),
            ("auto_renew_off", Purchase(id: "2", renewal: ["auto_renew_status": "0"])),
            ("billing_retry", Purchase(id: "3", expires: "-1 day", renewal: ["is_in_billing_retry_period": "true"])),
            (
                "billing_retry",
                Purchase(id: "4", expires: "-1 day", renewal: ["grace_period_expires_date": "now() + interval '1 day'"])
            ),
            ("renews_within_24_hours", Purchase(id: "5", expires: "23 hours 59 minutes")),
            ("valid", Purchase(id: "6", expires: "24 hours 5 minutes")),
            ("item_in_offer", Purchase(id: "7", items: ["a": ["offer_reason": "'RETENTION'"]])),
            ("valid", Purchase(id: "8", items: ["b": ["offer_reason": "'RETENTION'"]])),
            ("price_increase_communicated", Purchase(id: "9", items: ["a": ["price_increase_status": "'PENDING'"]])),
            ("price_increase_communicated", Purchase(id: "10", items: ["a": ["price_increase_status": "'ACCEPTED'"]])),
            ("valid", Purchase(id: "11", items: ["a": ["price_increase_status": "'SCHEDULED'"]])),
            ("price_increase_in_india", Purchase(id: "12", storefront: "IND", currency: "INR")),
            ("not_advanced_commerce", Purchase(id: "13", hasCommerce: false)),
            ("no_renewal_info", Purchase(id: "14", renewal: nil)),
            ("not_active", Purchase(id: "15", expires: "-1 day")),
            ("revoked", Purchase(id: "16", revoked: "-1 day")),
            ("not_a_subscription", Purchase(id: "17", type: "Consumable")),
        ]
        for (_, purchase) in purchases { try await add(purchase, to: world) }
        let listed = purchases.map { "'\($0.purchase.id)'" }.joined(separator: ", ")
        let query =
            "SELECT id AS transaction_id FROM unnest(ARRAY[\(listed), '99']) WITH ORDINALITY u (id, n) ORDER BY n"
        #expect(try await plan(prices, query, in: world) == purchases.map(\.rule) + ["not_in_ledger"])

        // Apple lowers prices in India. The SKU, the currency and the storefront are the subscription's.
        let lower = "changeSubscriptionPrice: {items: [{SKU: a, price: 990}]}"
        #expect(try await plan(lower, ids("12"), in: world) == ["valid"])
        for (section, rule) in [
            ("items: [{SKU: c, price: 990}]", "sku_not_owned"),
            ("currency: EUR, items: [{SKU: a, price: 990}]", "other_currency"),
            ("storefront: FRA, items: [{SKU: a, price: 990}]", "storefront_changed"),
            ("storefront: USA, currency: USD, items: [{SKU: b, price: 990}]", "valid"),
        ] {
            #expect(
                try await plan("changeSubscriptionPrice: {\(section)}", ids("1"), in: world) == [rule],
                "\(section)"
            )
        }
    }

    @Test func `a plan of price changes counts the rows about which Apple asks the customer`() async throws {
        let world = try await TestLedger()
        try await add(Purchase(id: "1"), to: world)
        try await add(Purchase(id: "2", storefront: "DEU", currency: "EUR"), to: world)
        try await add(Purchase(id: "3"), to: world)
        // The price of item a rose half a year ago.
        try await add(
            Purchase(
                id: "4",
                bought: "-200 days",
                expires: "-170 days",
                renewal: ["renewal_date": "now() + interval '20 days'"]
            ),
            to: world
        )
        try await add(Purchase(id: "5", original: "4"), to: world)
        try await world.run(
            """
            UPDATE advanced_commerce_items SET price_milliunits = 8990 WHERE owner_kind = 'transaction' AND owner_key = '4';
            UPDATE transactions SET advanced_commerce_period = 'P1Y' WHERE transaction_id = '3'
            """
        )
        func consent(_ price: Int64, _ list: String...) async throws -> [Int64] {
            let rows = list.map { "SELECT '\($0)' AS transaction_id" }.joined(separator: " UNION ALL ")
            let action = "changeSubscriptionPrice: {items: [{SKU: a, price: \(price)}]}"
            let found = try #require(try await summary(action, rows, in: world).consent)
            return [found.required, found.notRequired, found.unknown]
        }
        // 9.99 rises by a half and 5 dollars at most, or by more; for a year, 50 dollars.
        #expect(try await consent(14_985, "1", "2", "3") == [0, 3, 0])
        #expect(try await consent(14_990, "1", "2", "3") == [0, 2, 1])
        #expect(try await consent(14_991, "1", "2", "3") == [1, 1, 1])
        #expect(try await consent(59_991, "3") == [1, 0, 0])
        #expect(try await consent(10_000, "1", "5") == [1, 1, 0])
        #expect(try await consent(8_000, "1", "2", "5") == [0, 3, 0])
        // One item is enough.
        let two = "changeSubscriptionPrice: {items: [{SKU: a, price: 10000}, {SKU: b, price: 20000}]}"
        #expect(try await summary(two, ids("1"), in: world).consent?.required == 1)
        #expect(try await summary("cancelSubscription: {}", ids("1"), in: world).consent == nil)
    }

    @Test func `AC13 a subscription is migrated once, before a price rise, and with the items of a pending change`()
        async throws
    {
        let world = try await TestLedger()
        try await add(Purchase(id: "1", hasCommerce: false, reference: nil), to: world)
        try await add(Purchase(id: "2"), to: world)
        try await add(
            Purchase(id: "3", hasCommerce: false, reference: nil, renewal: ["price_increase_status": "0"]),
            to: world
        )
        try await add(
            Purchase(id: "4", hasCommerce: false, reference: nil, renewal: ["auto_renew_product_id": "'basic'"]),
            to: world
        )
        try await add(Purchase(id: "5", hasCommerce: false, reference: nil, renewal: nil), to: world)
        let item = "{SKU: a, displayName: Gold, description: Gold tier}"
        let target = """
            targetProductId: com.example.generic, taxCode: C003-00-1, descriptors: {displayName: Gold, description: Gold tier}, items: [\(item)]
            """
        #expect(
            try await plan("migrateSubscription: {\(target)}", ids("1", "2", "3", "4", "5"), in: world)
                == ["valid", "already_migrated", "price_increase_communicated", "pending_change", "valid"]
        )
        #expect(
            try await plan("migrateSubscription: {\(target), renewalItems: [\(item)]}", ids("1", "4"), in: world)
                == ["pending_change", "valid"]
        )
        // An ordinary subscription has no token.
        #expect(try await world.count("action_rows WHERE consistency_token IS NOT NULL") == 0)
    }

    @Test func `AC14 a refund that Apple refuses is sorted out, and the others count as money`() async throws {
        let world = try await TestLedger()
        try await add(Purchase(id: "1", type: "Consumable", renewal: nil), to: world)
        try await add(Purchase(id: "2", type: "Consumable", renewal: nil, refunded: 4_000), to: world)
        try await add(Purchase(id: "3", type: "Consumable", revoked: "-1 day", renewal: nil), to: world)
        try await add(
            Purchase(id: "4", type: "Consumable", renewal: nil, items: ["a": ["revocation_date": "now()"]]),
            to: world
        )
        try await add(Purchase(id: "5", bought: "-40 days", expires: "-10 days"), to: world)
        try await add(Purchase(id: "6", original: "5"), to: world)
        // The customer paid the price of the offer.
        let offer = ["offer_price_milliunits": "5000"]
        try await add(Purchase(id: "7", type: "Consumable", renewal: nil, items: ["a": offer]), to: world)
        func refund(_ item: String) -> String {
            "requestTransactionRefund: {refundRiskingPreference: true, items: [{revoke: true, \(item)}]}"
        }
        let whole = refund("SKU: a, refundType: FULL, refundReason: LEGAL")
        #expect(
            try await plan(whole, ids("1", "2", "3", "4", "7"), in: world)
                == ["valid", "valid", "revoked", "already_refunded", "valid"]
        )
        #expect(
            try await world.rows("SELECT sum(stake_milliunits) FROM action_rows WHERE verdict = 'valid'") == [
                "(\(9_990 + 5_990 + 5_000))"
            ]
        )
        let custom = refund("SKU: a, refundType: CUSTOM, refundAmount: 6000, refundReason: LEGAL")
        #expect(try await plan(custom, ids("1", "2", "7"), in: world) == ["valid", "refund_amount", "refund_amount"])
        let prorated = refund("SKU: b, refundType: PRORATED, refundReason: LEGAL")
        #expect(try await plan(prorated, ids("5", "6"), in: world) == ["prorated_earlier_transaction", "valid"])
        let unknown = refund("SKU: c, refundType: FULL, refundReason: LEGAL")
        #expect(try await plan(unknown, ids("1"), in: world) == ["sku_not_owned"])
        let simulated = refund("SKU: a, refundType: FULL, refundReason: SIMULATE_REFUND_DECLINE")
        #expect(try await plan(simulated, ids("1"), in: world) == ["simulated_decline"])
        #expect(try await plan(simulated, ids("1"), in: world, environment: "Sandbox") == ["valid"])
        let revoke =
            "revokeSubscription: {refundRiskingPreference: true, refundType: FULL, refundReason: SIMULATE_REFUND_DECLINE}"
        #expect(try await plan(revoke, ids("6"), in: world) == ["simulated_decline"])

        // A requested refund is not decided until its notification arrives.
        #expect(try await plan(whole, ids("1"), in: world) == ["valid"])
        try await world.run(
            "UPDATE action_batches SET started_at = now(); UPDATE action_rows SET state = 'succeeded', first_sent_at = now()"
        )
        let other = refund("SKU: b, refundType: FULL, refundReason: LEGAL")
        #expect(try await plan(other, ids("1"), in: world).last == "pending_refund")
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), 'u', 'REFUND_DECLINED', '1', now(), 'x', '{}')
            """
        )
        #expect(try await plan(other, ids("1"), in: world).last == "valid")
    }

    @Test func `AC15 two transactions of one subscription are duplicates, and the row names the subscription`()
        async throws
    {
        let world = try await TestLedger()
        try await add(Purchase(id: "1", bought: "-40 days", expires: "-10 days"), to: world)
        try await add(Purchase(id: "2", original: "1"), to: world)
        try await add(Purchase(id: "3", renewal: ["auto_renew_status": "0"]), to: world)
        #expect(
            try await plan("cancelSubscription: {}", ids("2", "1", "3"), in: world)
                == ["valid", "duplicate", "auto_renew_off"]
        )
        #expect(
            try await world.rows(
                """
                SELECT subject, transaction_id_before, consistency_token, request_reference_id_before, parameters ->> 'transaction_id', reason
                  FROM action_rows ORDER BY position LIMIT 2
                """
            ) == [
                "(1,2,1.1,11111111-1111-5111-8111-111111111111,2,)",
                "(1,2,1.1,11111111-1111-5111-8111-111111111111,1,\"row 1 has the same subscription\")",
            ]
        )
    }
}
