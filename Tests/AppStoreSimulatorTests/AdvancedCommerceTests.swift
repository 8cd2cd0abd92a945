import AppStoreModel
import Foundation
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// The six calls of the Advanced Commerce API.
struct AdvancedCommerceTests {
    static let uuids = (0..<10).map { "0000000\($0)-0000-5000-8000-000000000000" }

    private func info(_ number: Int = 0, token: String? = nil) -> String {
        let member = token.map { ", \"consistencyToken\": \"\($0)\"" } ?? ""
        return "\"requestInfo\": {\"requestReferenceId\": \"\(Self.uuids[number])\"\(member)}"
    }

    func call(
        _ store: TestStore,
        _ path: String,
        _ id: String,
        _ members: String = "",
        number: Int = 0,
        token: String? = nil
    ) async throws -> ServerAnswer {
        let body = "{\(info(number, token: token))\(members.isEmpty ? "" : ", \(members)")}"
        return try await store.post("/advancedCommerce/v1/\(path)/\(id)", body: body)
    }

    /// One subscription as `GET /simulator/world` lists it.
    struct Subscription {
        let id: String
        let status: Int64
        let renewal: JSONObject

        var commerce: JSONObject? { renewal["advancedCommerceInfo"]?.object }
        var token: String? { commerce?["consistencyToken"]?.string }
        var reference: String? { commerce?["requestReferenceId"]?.string }
        var items: [JSONObject] { (commerce?["items"]?.array ?? []).compactMap(\.object) }
        /// The SKU of the first item without an offer and without a price increase.
        var plainSKU: String? {
            items.first { $0["offer"] == nil && $0["priceIncreaseInfo"] == nil }?["SKU"]?.string
        }
    }

    func subscriptions(_ store: TestStore) async throws -> [Subscription] {
        try await store.listed("subscriptionStatus").sorted { $0.key < $1.key }.compactMap { id, json in
            guard let status = json.moment("status"), let renewal = json["payload"]?.object else { return nil }
            return Subscription(id: id, status: status, renewal: renewal)
        }
    }

    /// An active Advanced Commerce subscription that renews in more than a day, with a plain SKU.
    func subscription(_ store: TestStore, number: Int = 0) async throws -> Subscription {
        let later = store.clock.now.rawValue + 2 * Moment.day
        let found = try await subscriptions(store).filter {
            $0.commerce != nil && $0.status == 1 && $0.plainSKU != nil && $0.renewal.moment("autoRenewStatus") == 1
                && ($0.renewal.moment("renewalDate") ?? 0) > later
        }
        return try #require(found.dropFirst(number).first)
    }

    private func subscription(_ store: TestStore, _ id: String) async throws -> Subscription {
        try #require(try await subscriptions(store).first { $0.id == id })
    }

    /// What the customer pays for an item: its price, or the price of its offer.
    private func charged(_ item: JSONValue) -> Int64? {
        item.object?["offer"]?.object?.moment("price") ?? item.object?.moment("price")
    }

    @Test func `an item with an offer is charged at the offer, which is never dearer and ends with its periods`()
        async throws
    {
        try await TestStore.run(customers: 120) { store in
            let sold = try await store.world("transaction").compactMapValues(\.object).values.filter {
                $0["advancedCommerceInfo"] != nil && $0["inAppOwnershipType"]?.string == "PURCHASED"
            }
            func items(_ record: JSONObject) -> [JSONValue] {
                record["advancedCommerceInfo"]?.object?["items"]?.array ?? []
            }
            func offered(_ record: JSONObject) -> Int { items(record).count { $0.object?["offer"] != nil } }
            for transaction in sold {
                let all = items(transaction)
                #expect(all.reduce(0) { $0 + (charged($1) ?? 0) } == transaction.moment("price"))
                #expect(all.allSatisfy { (charged($0) ?? 0) <= ($0.object?.moment("price") ?? 0) })
            }
            let chains = Dictionary(grouping: sold) { $0["originalTransactionId"]?.string ?? "" }.values
                .map { $0.sorted { ($0.moment("purchaseDate") ?? 0) < ($1.moment("purchaseDate") ?? 0) } }
                .filter { $0.first?["type"]?.string == "Auto-Renewable Subscription" }
            #expect(chains.contains { $0.count > 2 })
            for chain in chains {
                #expect(
                    chain.prefix(2).allSatisfy { offered($0) == 1 }
                        && chain.dropFirst(2).allSatisfy { offered($0) == 0 }
                )
            }
            // The price of the renewal is the price of its items.
            for subscription in try await subscriptions(store) where !subscription.items.isEmpty {
                let price = subscription.items.reduce(Int64(0)) { sum, item in
                    let increase = item["priceIncreaseInfo"]?.object
                    let accepted = increase?["status"]?.string == "ACCEPTED" ? increase?.moment("price") : nil
                    return sum + (accepted ?? item["offer"]?.object?.moment("price") ?? item.moment("price") ?? 0)
                }
                let half = subscription.renewal["offerType"] == nil ? nil : price / 2
                let renewalPrice = subscription.renewal.moment("renewalPrice")
                #expect(renewalPrice == price || renewalPrice == half || renewalPrice == 0 && half != nil)
            }
        }
    }

    /// The signed payloads of an answer.
    private func signed(
        _ answer: ServerAnswer,
        _ store: TestStore
    ) throws -> (transaction: JSONObject, renewal: JSONObject?) {
        let json = try answer.json
        let renewal = json["signedRenewalInfo"]?.string
        return (try store.payload(json["signedTransactionInfo"]?.string), try renewal.map { try store.payload($0) })
    }

    @Test func `a cancelled subscription does not renew, and the ID of the request is in its signed records`()
        async throws
    {
        try await TestStore.run(customers: 120) { store in
            let before = try await subscription(store)
            let answer = try await call(store, "subscription/cancel", before.id, token: before.token)
            #expect(answer.status == 200)
            let (transaction, renewal) = try signed(answer, store)
            #expect(renewal?.moment("autoRenewStatus") == 0)
            for record in [transaction, try #require(renewal)] {
                #expect(record["advancedCommerceInfo"]?.object?["requestReferenceId"]?.string == Self.uuids[0])
            }
            store.clock.advance(by: .seconds(1))
            let after = try await subscription(store, before.id)
            #expect(after.renewal.moment("autoRenewStatus") == 0 && after.status == 1)
            #expect(after.reference == Self.uuids[0] && after.token != before.token)
            #expect(
                try await store.transactions(inNotifications: "DID_CHANGE_RENEWAL_STATUS")[before.id]?.isEmpty == false
            )
            // The same request again is the same state, and an old token is refused.
            #expect(try await call(store, "subscription/cancel", before.id, token: before.token).status == 200)
            let old = try await call(store, "subscription/cancel", before.id, number: 1, token: before.token)
            #expect(old.errorCode == 4_000_082)
            #expect(try await store.actions.map { $0.moment("applied") } == [1])
        }
    }

    @Test func `new metadata are there at once, or from the next period on, and a repeated ID is 4000097`() async throws
    {
        try await TestStore.run(customers: 120) { store in
            let before = try await subscription(store)
            let sku = try #require(before.plainSKU)
            let members = """
                "descriptors": {"displayName": "New name", "effective": "IMMEDIATELY"},
                "items": [{"currentSKU": "\(sku)", "SKU": "new", "effective": "NEXT_BILL_CYCLE"}]
                """
            let answer = try await call(store, "subscription/changeMetadata", before.id, members)
            let (transaction, renewal) = try signed(answer, store)
            func commerce(_ record: JSONObject?) -> JSONObject? { record?["advancedCommerceInfo"]?.object }
            func skus(_ record: JSONObject?) -> [String] {
                (commerce(record)?["items"]?.array ?? []).compactMap { $0.object?["SKU"]?.string }
            }
            #expect(commerce(transaction)?["descriptors"]?.object?["displayName"]?.string == "New name")
            #expect(commerce(renewal)?["descriptors"]?.object?["displayName"]?.string == "New name")
            #expect(skus(transaction).contains(sku) && !skus(renewal).contains(sku) && skus(renewal).contains("new"))
            let repeated = try await call(store, "subscription/changeMetadata", before.id, members)
            #expect(repeated.status == 400 && repeated.errorCode == 4_000_097)
            let counts = try await store.actions.map { [$0.moment("requested"), $0.moment("applied")] }
            #expect(counts == [[2, 1]])
            for (members, code) in [
                ("\"descriptors\": {\"effective\": \"IMMEDIATELY\"}", 4_000_165), ("\"items\": []", 4_000_160),
                ("\"items\": [{\"currentSKU\": \"none\", \"SKU\": \"b\", \"effective\": \"IMMEDIATELY\"}]", 4_000_121),
                ("\"items\": [{\"SKU\": \"b\", \"effective\": \"IMMEDIATELY\"}]", 4_000_173),
                ("\"items\": [{\"currentSKU\": \"new\", \"SKU\": \"b\"}]", 4_000_111), ("\"more\": 1", 4_000_173),
            ] {
                let refused = try await call(store, "subscription/changeMetadata", before.id, members, number: 2)
                #expect(refused.errorCode == Int64(code), "\(members)")
            }
            let twice = Array(
                repeating: "{\"currentSKU\": \"new\", \"SKU\": \"b\", \"effective\": \"IMMEDIATELY\"}",
                count: 2
            )
            let items = "\"items\": [\(twice.joined(separator: ", "))]"
            #expect(
                try await call(store, "subscription/changeMetadata", before.id, items, number: 2).errorCode == 4_000_115
            )
            let expired = try #require(try await subscriptions(store).first { $0.status == 2 && $0.commerce != nil })
            #expect(
                try await call(store, "subscription/changeMetadata", expired.id, members, number: 2).errorCode
                    == 4_030_015
            )
        }
    }

    @Test func `a price rises with the customer's consent or falls at once, and only where Apple changes prices`()
        async throws
    {
        try await TestStore.run(customers: 400) { store in
            let before = try await subscription(store)
            let sku = try #require(before.plainSKU)
            let price = try #require(before.items.first { $0["SKU"]?.string == sku }?.moment("price"))
            func change(_ id: String, _ sku: String, _ price: Int64, number: Int) async throws -> ServerAnswer {
                let items = "\"items\": [{\"SKU\": \"\(sku)\", \"price\": \(price)}]"
                return try await call(store, "subscription/changePrice", id, items, number: number)
            }
            func item(_ subscription: Subscription) -> JSONObject? {
                subscription.items.first { $0["SKU"]?.string == sku }
            }
            // A fall, and a rise that needs no consent, can be replaced.
            #expect(try await change(before.id, sku, price - 10, number: 0).status == 200)
            store.clock.advance(by: .seconds(1))
            #expect(item(try await subscription(store, before.id))?.moment("price") == price - 10)
            #expect(try await change(before.id, sku, price + 10, number: 1).status == 200)
            store.clock.advance(by: .seconds(1))
            var increase = item(try await subscription(store, before.id))?["priceIncreaseInfo"]?.object
            #expect(increase?["status"]?.string == "SCHEDULED" && increase?.moment("price") == price + 10)
            // One that needs it is communicated, also to the same request.
            for _ in 0..<2 {
                let raised = try await change(before.id, sku, price * 100, number: 2)
                increase = item(try await subscription(store, before.id))?["priceIncreaseInfo"]?.object
                #expect(increase?["status"]?.string == "PENDING" && increase?.moment("price") == price * 100)
                #expect(raised.status == 200 || raised.errorCode == 4_000_205)
            }
            #expect(try await change(before.id, sku, price * 100, number: 2).errorCode == 4_000_205)
            #expect(try await change(before.id, sku, price, number: 3).errorCode == 4_000_205)
            #expect(try await store.transactions(inNotifications: "PRICE_CHANGE")[before.id]?.count ?? 0 >= 3)

            let all = try await subscriptions(store)
            #expect(try await change(before.id, "none", 1, number: 4).errorCode == 4_000_220)
            // Each of these is refused for one reason only.
            let later = store.clock.now.rawValue + 2 * Moment.day
            let renewing = all.filter {
                $0.renewal.moment("autoRenewStatus") == 1 && ($0.renewal.moment("renewalDate") ?? 0) > later
            }
            let offer = try #require(
                renewing.first { $0.status == 1 && $0.items.first?["offer"] != nil && $0.id != before.id }
            )
            let offered = try #require(offer.items.first?["SKU"]?.string)
            let off = try await subscription(store, number: 1)
            #expect(try await call(store, "subscription/cancel", off.id, number: 5).status == 200)
            let expired = try #require(all.first { $0.status == 2 && $0.commerce != nil })
            let ordinary = try #require(renewing.first { $0.status == 1 && $0.commerce == nil })
            for (id, sku) in [
                (offer.id, offered), (off.id, off.plainSKU ?? ""), (expired.id, "shelf-1"), (ordinary.id, "shelf-1"),
            ] {
                #expect(try await change(id, sku, 1, number: 4).errorCode == 4_030_010)
            }
            #expect(try await call(store, "subscription/cancel", expired.id, number: 4).errorCode == 4_030_010)
            for (items, code) in [
                ("[]", 4_000_173), ("[{\"SKU\": \"\(sku)\"}]", 4_000_173), ("[{\"price\": 1}]", 4_000_105),
                ("[{\"SKU\": \"\(sku)\", \"price\": -1}]", 4_000_086),
                ("[{\"SKU\": \"a\", \"price\": 1}, {\"SKU\": \"a\", \"price\": 1}]", 4_000_194),
            ] {
                let refused = try await call(
                    store,
                    "subscription/changePrice",
                    before.id,
                    "\"items\": \(items)",
                    number: 4
                )
                #expect(refused.errorCode == Int64(code), "\(items)")
            }
            #expect(try await call(store, "subscription/changePrice", before.id, number: 4).errorCode == 4_000_101)

            // With the next change Apple tells the customers, who accept, cancel or do not answer: PriceChangeRenewalTests.
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            store.clock.advance(by: .seconds(120))
            let isCancelled = try await subscription(store, before.id).renewal.moment("autoRenewStatus") == 0
            let isTold = try await store.transactions(inNotifications: "PRICE_INCREASE")[before.id] != nil
            #expect(isCancelled != isTold)
        }
    }

    @Test func `an ordinary subscription is migrated once, and keeps its price`() async throws {
        try await TestStore.run(customers: 120) { store in
            let all = try await subscriptions(store)
            let product = Product.advancedSubscription.id
            let items = "\"items\": [{\"SKU\": \"plus\", \"displayName\": \"Plus\", \"description\": \"Plus\"}]"
            let target = """
                "descriptors": {"displayName": "Plus", "description": "Plus"}, \(items), "targetProductId": "\(product)",
                "taxCode": "C003-00-2"
                """
            let purchased = try await store.world("transaction").compactMapValues(\.object)
            let before = try #require(
                all.first {
                    $0.status == 1 && $0.commerce == nil && $0.renewal["priceIncreaseStatus"] == nil
                        && $0.renewal["autoRenewProductId"] == $0.renewal["productId"]
                        && purchased[$0.id]?["inAppOwnershipType"]?.string == "PURCHASED"
                }
            )
            let answer = try await call(store, "subscription/migrate", before.id, target)
            let (transaction, renewal) = try signed(answer, store)
            let found = try #require(transaction["advancedCommerceInfo"]?.object)
            #expect(found["requestReferenceId"]?.string == Self.uuids[0])
            #expect(found["items"]?.array?.first?.object?.moment("price") == transaction.moment("price"))
            #expect(renewal?["advancedCommerceInfo"]?.object?["consistencyToken"] != nil)
            #expect(try await call(store, "subscription/migrate", before.id, target).errorCode == 4_000_097)
            #expect(try await call(store, "subscription/migrate", before.id, target, number: 1).errorCode == 4_000_176)
            #expect(
                try await call(
                    store,
                    "subscription/migrate",
                    before.id,
                    target.replacingOccurrences(of: product, with: "other"),
                    number: 1
                ).errorCode == 4_000_167
            )
            #expect(
                try await call(store, "subscription/migrate", before.id, "\(target), \"renewalItems\": []", number: 1)
                    .errorCode == 4_000_160
            )
            #expect(try await store.transactions(inNotifications: "MIGRATION")[before.id]?.isEmpty == false)
        }
    }

    @Test func `a migration needs renewal items exactly when the signed renewal info names another product`()
        async throws
    {
        try await TestStore.run(customers: 120) { store in
            let purchased = try await store.world("transaction").compactMapValues(\.object)
            func isChanging(_ subscription: Subscription) -> Bool {
                subscription.renewal["autoRenewProductId"] != subscription.renewal["productId"]
            }
            let ordinary = try await subscriptions(store).filter {
                $0.status == 1 && $0.commerce == nil && $0.renewal["priceIncreaseStatus"] == nil
                    && purchased[$0.id]?["inAppOwnershipType"]?.string == "PURCHASED"
            }
            #expect(ordinary.contains(where: isChanging) && !ordinary.allSatisfy(isChanging))
            let item = "{\"SKU\": \"plus\", \"displayName\": \"Plus\", \"description\": \"Plus\"}"
            let target = """
                "descriptors": {"displayName": "Plus", "description": "Plus"}, "items": [\(item)],
                "targetProductId": "\(Product.advancedSubscription.id)", "taxCode": "C003-00-2"
                """
            for (number, subscription) in ordinary.enumerated() {
                let reference = "00000000-0000-5000-8000-\(100_000_000_000 + number)"
                let answer = try await store.post(
                    "/advancedCommerce/v1/subscription/migrate/\(subscription.id)",
                    body: "{\"requestInfo\": {\"requestReferenceId\": \"\(reference)\"}, \(target)}"
                )
                #expect(answer.errorCode == (isChanging(subscription) ? 4_000_180 : nil), "\(subscription.id)")
                // Fifty requests a second are allowed.
                store.clock.advance(by: .milliseconds(100))
            }
        }
    }

    @Test func `a revoked subscription ends at once, and its items are refunded`() async throws {
        try await TestStore.run(customers: 120) { store in
            let before = try await subscription(store)
            let terms = "\"refundReason\": \"LEGAL\", \"refundType\": \"FULL\", \"refundRiskingPreference\": true"
            let answer = try await call(store, "subscription/revoke", before.id, terms)
            let (transaction, _) = try signed(answer, store)
            #expect(transaction.moment("revocationDate") != nil)
            let items = transaction["advancedCommerceInfo"]?.object?["items"]?.array ?? []
            #expect(
                items.allSatisfy {
                    let refund = $0.object?["refunds"]?.array?.first?.object
                    return refund?["refundReason"]?.string == "LEGAL"
                        && refund?.moment("refundAmount") == charged($0)
                }
            )
            store.clock.advance(by: .seconds(1))
            #expect(try await subscription(store, before.id).status == 5)
            #expect(try await store.transactions(inNotifications: "REFUND")[before.id]?.isEmpty == false)
            #expect(try await call(store, "subscription/revoke", before.id, terms).errorCode == 4_000_097)
            #expect(try await call(store, "subscription/revoke", before.id, terms, number: 1).errorCode == 4_000_186)
            let other = try await subscription(store)
            for (terms, code) in [
                (
                    "\"refundReason\": \"LEGAL\", \"refundType\": \"CUSTOM\", \"refundRiskingPreference\": true",
                    4_000_123
                ),
                ("\"refundReason\": \"BORED\", \"refundType\": \"FULL\", \"refundRiskingPreference\": true", 4_000_124),
                (
                    "\"refundReason\": \"SIMULATE_REFUND_DECLINE\", \"refundType\": \"FULL\", \"refundRiskingPreference\": true",
                    4_000_158
                ),
                ("\"refundReason\": \"LEGAL\", \"refundType\": \"FULL\"", 4_000_159),
            ] {
                let refused = try await call(store, "subscription/revoke", other.id, terms, number: 1)
                #expect(refused.errorCode == Int64(code), "\(terms)")
            }
        }
    }

    @Test func `a refund is pending until Apple decides it, and then REFUND names the items`() async throws {
        try await TestStore.run(customers: 120) { store in
            let charge = try #require(
                try await store.world("transaction").compactMapValues(\.object).values
                    .filter { $0["type"]?.string == "Consumable" && $0["revocationDate"] == nil }
                    .filter { $0["advancedCommerceInfo"] != nil }
                    .min { ($0["transactionId"]?.string ?? "") < ($1["transactionId"]?.string ?? "") }
            )
            let id = try #require(charge["transactionId"]?.string)
            let items = charge["advancedCommerceInfo"]?.object?["items"]?.array?.compactMap(\.object) ?? []
            let sku = try #require(items.first?["SKU"]?.string)
            let price = try #require(items.first?.moment("price"))
            func refund(_ terms: String, number: Int) async throws -> ServerAnswer {
                let items =
                    "\"items\": [{\"SKU\": \"\(sku)\", \"revoke\": true, \"refundReason\": \"OTHER\", \(terms)}]"
                return try await call(
                    store,
                    "transaction/requestRefund",
                    id,
                    "\(items), \"refundRiskingPreference\": false",
                    number: number
                )
            }
            let tooMuch = try await refund("\"refundType\": \"CUSTOM\", \"refundAmount\": \(price + 1)", number: 0)
            #expect(tooMuch.errorCode == 4_000_153)
            #expect(try await refund("\"refundType\": \"CUSTOM\"", number: 0).errorCode == 4_000_153)
            let answer = try await refund("\"refundType\": \"CUSTOM\", \"refundAmount\": \(price)", number: 0)
            let (transaction, renewal) = try signed(answer, store)
            #expect(renewal == nil)
            #expect(transaction["advancedCommerceInfo"]?.object?["requestReferenceId"]?.string == Self.uuids[0])
            #expect(try await refund("\"refundType\": \"FULL\"", number: 0).errorCode == 4_000_097)
            #expect(try await refund("\"refundType\": \"FULL\"", number: 1).errorCode == 4_000_181)
            for (terms, code) in [
                ("\"items\": []", 4_000_173), ("\"currency\": \"euro\"", 4_000_173),
                (
                    "\"items\": [{\"SKU\": \"none\", \"revoke\": true, \"refundReason\": \"OTHER\", \"refundType\": \"FULL\"}]",
                    4_030_013
                ),
            ] {
                // Before another charge has a pending refund, its items are checked.
                let other = try await otherCharge(store, than: id)
                let all = "\(terms), \"refundRiskingPreference\": false"
                let refused = try await call(store, "transaction/requestRefund", other, all, number: 2)
                #expect(refused.errorCode == Int64(code), "\(terms)")
            }
            let token = try await call(
                store,
                "transaction/requestRefund",
                try await otherCharge(store, than: id),
                """
                "items": [{"SKU": "shelf-1", "revoke": true, "refundReason": "OTHER", "refundType": "FULL"}],
                "refundRiskingPreference": false
                """,
                number: 2,
                token: "0.old"
            )
            #expect(token.errorCode == 4_000_082)
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            store.clock.advance(by: .seconds(120))
            let refunded = try #require(try await store.transactions(inNotifications: "REFUND")[id]?.last)
            let refunds = refunded["advancedCommerceInfo"]?.object?["items"]?.array?.first?.object?["refunds"]?.array
            #expect(refunds?.first?.object?.moment("refundAmount") == price)
            #expect(try await refund("\"refundType\": \"FULL\"", number: 1).errorCode == 4_030_021)
        }
    }

    /// A one-time charge that was not refunded.
    func otherCharge(_ store: TestStore, than id: String) async throws -> String {
        let charges = try await store.world("transaction").compactMapValues(\.object).filter {
            $0.key != id && $0.value["type"]?.string == "Consumable" && $0.value["revocationDate"] == nil
                && $0.value["advancedCommerceInfo"] != nil
        }
        let ids = charges.keys.sorted()
        return try #require(ids.first)
    }

    @Test
    func `a refund of all items of an active subscription is 4000168, and a pending refund prevents a revocation`()
        async throws
    {
        try await TestStore.run(customers: 120) { store in
            let before = try await subscription(store)
            let latest = try #require(
                try await store.world("transaction").compactMapValues(\.object)
                    .filter { $0.value["originalTransactionId"]?.string == before.id }
                    .max { ($0.value.moment("expiresDate") ?? 0) < ($1.value.moment("expiresDate") ?? 0) }
            )
            let skus =
                latest.value["advancedCommerceInfo"]?.object?["items"]?.array?
                .compactMap { $0.object?["SKU"]?.string } ?? []
            func refund(revoking: Bool) async throws -> ServerAnswer {
                let items = skus.map {
                    """
                    {"SKU": "\($0)", "revoke": \(revoking), "refundReason": "OTHER", "refundType": "PRORATED"}
                    """
                }
                return try await call(
                    store,
                    "transaction/requestRefund",
                    latest.key,
                    "\"items\": [\(items.joined(separator: ", "))], \"refundRiskingPreference\": true",
                    token: before.token
                )
            }
            #expect(try await refund(revoking: true).errorCode == 4_000_168)
            #expect(try await refund(revoking: false).status == 200)
            let terms = "\"refundReason\": \"LEGAL\", \"refundType\": \"FULL\", \"refundRiskingPreference\": true"
            #expect(try await call(store, "subscription/revoke", before.id, terms, number: 1).errorCode == 4_000_181)
        }
    }

    @Test(arguments: [
        ("{}", 4_000_079), ("{\"requestInfo\": {}}", 4_000_080),
        ("{\"requestInfo\": {\"requestReferenceId\": \"7\"}}", 4_000_081), ("[]", 4_000_173), ("{", 4_000_173),
        ("{\"requestInfo\": {\"requestReferenceId\": \"\(uuids[0])\", \"appAccountToken\": \"7\"}}", 4_000_033),
        ("{\"requestInfo\": {\"requestReferenceId\": \"\(uuids[0])\"}, \"storefront\": \"US\"}", 4_000_028),
    ])
    func `a body without a valid requestInfo is refused by every call`(body: String, code: Int) async throws {
        try await TestStore.run(customers: 30) { store in
            let id = try #require(try await subscriptions(store).first?.id)
            for path in [
                "subscription/cancel", "subscription/changeMetadata", "subscription/changePrice",
                "subscription/migrate",
                "subscription/revoke", "transaction/requestRefund",
            ] {
                let answer = try await store.post("/advancedCommerce/v1/\(path)/\(id)", body: body)
                #expect(answer.status == 400 && answer.errorCode == Int64(code), "\(path) \(body)")
            }
            let unknown = try await call(store, "subscription/cancel", "1")
            #expect(unknown.status == 404 && unknown.errorCode == 4_040_010)
        }
    }
}
