import AppStoreModel
import Foundation
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// What the six calls refuse, with the codes that Apple lists for each.
extension AdvancedCommerceTests {
    private static let price = #""items": [{"SKU": "a", "price": 1"#
    private static let effective = #""effective": "IMMEDIATELY""#
    private static let item = #"{"SKU": "a", "displayName": "n", "description": "d"}"#
    private static let descriptors = #""descriptors": {"displayName": "n", "description": "d"}"#
    private static let refund = #""refundRiskingPreference": true, "items": [{"SKU": "a", "revoke": false"#
    private static let long = String(repeating: "n", count: 129)

    @Test func `a value that Apple refuses is refused with the code that Apple lists for the call`() async throws {
        let cases: [(path: String, members: String, code: Int64)] = [
            ("changePrice", "\(Self.price), \"dependentSKUs\": [\"b\", \"b\"]}]", 4_000_192),
            (
                "changePrice",
                """
                \(Self.price), "dependentSKUs": ["b"]}, {"SKU": "b", "price": 1, "dependentSKUs": ["c"]}]
                """, 4_000_193
            ),
            ("changePrice", "\"items\": [{\"SKU\": \"\(Self.long)\", \"price\": 1}]", 4_000_087),
            ("changePrice", "\"items\": [{\"SKU\": \"\", \"price\": 1}]", 4_000_122),
            ("changePrice", "\(Self.price)}], \"currency\": \"euro\"", 4_000_053),
            ("changeMetadata", "\"descriptors\": {\(Self.effective), \"displayName\": \"\(Self.long)\"}", 4_000_089),
            ("changeMetadata", "\"descriptors\": {\(Self.effective), \"description\": \"\(Self.long)\"}", 4_000_088),
            ("changeMetadata", "\"descriptors\": {\(Self.effective), \"displayName\": \"\"}", 4_000_118),
            ("changeMetadata", "\"descriptors\": {\(Self.effective), \"description\": \"\"}", 4_000_119),
            ("changeMetadata", "\"descriptors\": {\"effective\": \"NOW\", \"displayName\": \"n\"}", 4_000_173),
            ("changeMetadata", "\"items\": [{\"currentSKU\": \"a\", \(Self.effective)}]", 4_000_165),
            ("changeMetadata", "\"taxCode\": \"\"", 4_000_127),
            ("migrate", "", 4_000_103),
            ("migrate", "\"descriptors\": {\"description\": \"d\"}", 4_000_106),
            ("migrate", "\"descriptors\": {\"displayName\": \"n\"}", 4_000_107),
            ("migrate", Self.descriptors, 4_000_101),
            ("migrate", "\(Self.descriptors), \"items\": [{}]", 4_000_105),
            ("migrate", "\(Self.descriptors), \"items\": [\(Self.item), \(Self.item)]", 4_000_122),
            ("migrate", "\(Self.descriptors), \"items\": [\(Self.item)]", 4_000_166),
            (
                "migrate",
                """
                \(Self.descriptors), "items": [\(Self.item)], "targetProductId": "\(Product.advancedSubscription.id)"
                """, 4_000_099
            ),
            ("revoke", "\"refundRiskingPreference\": true, \"refundType\": \"FULL\"", 4_000_156),
            ("revoke", "\"refundRiskingPreference\": true, \"refundReason\": \"LEGAL\"", 4_000_157),
            ("refund", "\"refundRiskingPreference\": true", 4_000_173),
            ("refund", "\(Self.refund)}]", 4_000_156),
            ("refund", "\(Self.refund), \"refundReason\": \"LEGAL\"}]", 4_000_157),
            ("refund", "\(Self.refund), \"refundReason\": \"LEGAL\", \"refundType\": \"HALF\"}]", 4_000_123),
            (
                "refund",
                "\(Self.refund), \"refundReason\": \"LEGAL\", \"refundType\": \"FULL\", \"refundAmount\": 1}]",
                4_000_155
            ),
            (
                "refund",
                """
                \(Self.refund), "refundReason": "LEGAL", "refundType": "FULL"},
                {"SKU": "a", "revoke": false, "refundReason": "LEGAL", "refundType": "FULL"}]
                """, 4_000_173
            ),
            (
                "refund",
                "\(Self.refund), \"refundReason\": \"LEGAL\", \"refundType\": \"CUSTOM\", \"refundAmount\": 0}]",
                4_000_154
            ),
        ]
        try await TestStore.run(customers: 30) { store in
            let id = try #require(try await subscriptions(store).first?.id)
            for (path, members, code) in cases {
                let path = path == "refund" ? "transaction/requestRefund" : "subscription/\(path)"
                let answer = try await call(store, path, id, members)
                #expect(answer.errorCode == code, "\(path) \(members)")
            }
            #expect(try await store.actions.isEmpty)
        }
    }

    @Test func `a simulated decline is for all items of a refund, and for the sandbox`() async throws {
        let items = ["SIMULATE_REFUND_DECLINE", "LEGAL"].map {
            "{\"SKU\": \"\($0)\", \"revoke\": false, \"refundType\": \"FULL\", \"refundReason\": \"\($0)\"}"
        }
        let body = "\"refundRiskingPreference\": true, \"items\": [\(items.joined(separator: ", "))]"
        for (environment, code) in [(SimulatorConfiguration.Environment.sandbox, 4_000_184), (.production, 4_000_158)] {
            try await TestStore.run(customers: 30, configure: { $0.environment = environment }) { store in
                let id = try #require(try await subscriptions(store).first?.id)
                #expect(try await call(store, "transaction/requestRefund", id, body).errorCode == Int64(code))
            }
        }
    }

    @Test func `prices stay for a day before the renewal, and rise neither in India nor in another currency`()
        async throws
    {
        try await TestStore.run(customers: 400) { store in
            func change(_ id: String, _ members: String) async throws -> Int64? {
                try await call(store, "subscription/changePrice", id, members).errorCode
            }
            let before = try await subscription(store)
            let sku = try #require(before.plainSKU)
            let other = before.renewal["currency"]?.string == "USD" ? "EUR" : "USD"
            let fall = "\"items\": [{\"SKU\": \"\(sku)\", \"price\": 1}]"
            #expect(try await change(before.id, "\(fall), \"currency\": \"\(other)\"") == 4_000_053)
            #expect(try await change(before.id, "\(fall), \"storefront\": \"VAT\"") == 4_000_133)
            let charge = try await otherCharge(store, than: "")
            let refund = "\(Self.refund), \"refundReason\": \"LEGAL\", \"refundType\": \"FULL\"}]"
            for members in ["\"storefront\": \"VAT\"", "\"currency\": \"XXX\""] {
                let answer = try await call(store, "transaction/requestRefund", charge, "\(refund), \(members)")
                #expect(answer.errorCode == 4_000_133, "\(members)")
            }
            // Apple has refunded one item of the transaction, and revoked all of it.
            let refunded = try await store.world("transaction").compactMapValues(\.object).filter {
                let first = $0.value["advancedCommerceInfo"]?.object?["items"]?.array?.first?.object
                return $0.value["revocationDate"] != nil && first != nil && first?["revocationDate"] == nil
            }.keys.sorted()
            let whole = refund.replacing("\"a\"", with: "\"shelf-1\"")
            let again = try await call(store, "transaction/requestRefund", try #require(refunded.first), whole)
            #expect(again.errorCode == 4_030_021)
            let indian = try #require(
                try await subscriptions(store).first {
                    $0.status == 1 && $0.plainSKU != nil && $0.renewal["currency"]?.string == "INR"
                        && $0.renewal.moment("autoRenewStatus") == 1
                        && ($0.renewal.moment("renewalDate") ?? 0) > store.clock.now.rawValue + 2 * Moment.day
                }
            )
            let rise = "\"items\": [{\"SKU\": \"\(indian.plainSKU ?? "")\", \"price\": 900000000000}]"
            #expect(try await change(indian.id, rise) == 4_000_221)

            let renewal = try #require(before.renewal.moment("renewalDate"))
            store.clock.advance(by: .milliseconds(renewal - store.clock.now.rawValue - Moment.day + 1))
            #expect(try await change(before.id, fall) == 4_030_010)
            store.clock.advance(by: .milliseconds(-1))
            #expect(try await change(before.id, fall) == nil)
        }
    }

    @Test func `a subscription is migrated before an increase, by its buyer, and with the items of a pending change`()
        async throws
    {
        try await TestStore.run(customers: 400) { store in
            let target = """
                \(Self.descriptors), "items": [\(Self.item)], "targetProductId": "\(Product.advancedSubscription.id)",
                "taxCode": "C003-00-2"
                """
            let renewing = "\(target), \"renewalItems\": [\(Self.item)]"
            let transactions = try await store.world("transaction").compactMapValues(\.object)
            let ordinary = try await subscriptions(store).filter { $0.status == 1 && $0.commerce == nil }
            let purchased = ordinary.filter { transactions[$0.id]?["inAppOwnershipType"]?.string == "PURCHASED" }
            let shared = try #require(
                ordinary.first { transactions[$0.id]?["inAppOwnershipType"]?.string == "FAMILY_SHARED" }
            )
            let increased = try #require(purchased.first { $0.renewal["priceIncreaseStatus"] != nil })
            let changing = try #require(
                purchased.first { $0.renewal["autoRenewProductId"] != $0.renewal["productId"] }
            )
            let plain = try #require(
                purchased.first {
                    $0.renewal["autoRenewProductId"] == $0.renewal["productId"]
                        && $0.renewal["priceIncreaseStatus"] == nil
                }
            )
            let charge = try await otherCharge(store, than: "")
            for (id, members, code) in [
                (shared.id, target, 4_030_010), (increased.id, target, 4_030_027), (changing.id, target, 4_000_180),
                (plain.id, renewing, 4_000_180), (charge, target, 4_030_008),
            ] {
                #expect(try await call(store, "subscription/migrate", id, members).errorCode == Int64(code))
            }
            #expect(try await call(store, "subscription/migrate", changing.id, renewing).status == 200)
        }
    }

    @Test func `only the latest transaction of a subscription gets a prorated refund, and no family member a refund`()
        async throws
    {
        try await TestStore.run(customers: 120) { store in
            let transactions = try await store.world("transaction").compactMapValues(\.object)
            func date(_ transaction: JSONObject) -> Int64 { transaction.moment("purchaseDate") ?? 0 }
            func original(_ transaction: JSONObject) -> String? { transaction["originalTransactionId"]?.string }
            let renewed = transactions.filter { _, found in
                found["type"]?.string == "Auto-Renewable Subscription" && found["advancedCommerceInfo"] != nil
                    && found["revocationDate"] == nil
                    && transactions.values.contains { original($0) == original(found) && date($0) > date(found) }
            }.keys.sorted()
            let earlier = try #require(renewed.first)
            let sku = transactions[earlier]?["advancedCommerceInfo"]?.object?["items"]?.array?.first?.object?["SKU"]?
                .string
            let item = """
                "refundRiskingPreference": true, "items": [{"SKU": "\(sku ?? "")", "revoke": false, "refundReason": "LEGAL",
                """
            let prorated = "\(item) \"refundType\": \"PRORATED\"}]"
            #expect(try await call(store, "transaction/requestRefund", earlier, prorated).errorCode == 4_000_182)
            let family = transactions.filter { $0.value["inAppOwnershipType"]?.string == "FAMILY_SHARED" }.keys.sorted()
            let shared = try #require(family.first)
            let whole = "\(item) \"refundType\": \"FULL\"}]"
            #expect(try await call(store, "transaction/requestRefund", shared, whole).errorCode == 4_030_024)
            #expect(try await call(store, "transaction/requestRefund", earlier, whole).status == 200)
        }
    }
}
