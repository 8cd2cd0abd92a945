import AppStoreModel
import Foundation
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct MassExtensionTests {
    private static let path = "/inApps/v1/subscriptions/extend/mass"
    private static let product = "com.example.game.plus.monthly"
    private static let request = "3b241101-e2bb-4255-8caf-4136c566a962"

    private func body(_ identifier: String = request, days: Int = 5, storefronts: [String]? = nil) -> String {
        let codes = (storefronts ?? []).map { "\"\($0)\"" }.joined(separator: ",")
        let list = storefronts.map { _ in ",\"storefrontCountryCodes\":[\(codes)]" }
        return """
            {"extendByDays":\(days),"extendReasonCode":3,"requestIdentifier":"\(identifier)",
             "productId":"\(Self.product)"\(list ?? "")}
            """
    }

    private func single(_ identifier: String) -> String {
        "{\"extendByDays\":1,\"extendReasonCode\":3,\"requestIdentifier\":\"\(identifier)\"}"
    }

    /// The subscriptions to the product that can be extended, in the order of their IDs.
    private func eligibleSubscriptions(_ store: TestStore) async throws -> [(originalId: String, storefront: String)] {
        let transactions = try await store.world("transaction").compactMapValues(\.object)
        return try await store.listed("subscriptionStatus").sorted { $0.key < $1.key }.compactMap { id, status in
            guard let current = status["transactionId"]?.string.flatMap({ transactions[$0] }),
                status.moment("status") == 1, current["productId"]?.string == Self.product,
                current["offerDiscountType"]?.string != "FREE_TRIAL",
                current["inAppOwnershipType"]?.string == "PURCHASED"
            else { return nil }
            return (id, current["storefront"]?.string ?? "")
        }
    }

    private func status(
        _ store: TestStore,
        of identifier: String = request,
        product: String = product
    ) async throws -> ServerAnswer {
        try await store.get("\(Self.path)/\(product)/\(identifier)")
    }

    /// The notifications of a type and subtype about the request's subscriptions.
    private func count(_ store: TestStore, _ type: String, _ subtype: String? = nil) async throws -> Int {
        try await store.world("notification").values.compactMap(\.object).count {
            $0["notificationType"]?.string == type && $0["subtype"]?.string == subtype
        }
    }

    @Test func `it is complete after the configured number of status requests, and everything agrees with its counts`()
        async throws
    {
        try await TestStore.run(customers: 150, configure: { $0.massExtensionRequests = 3 }) { store in
            // One subscription has had its two extensions.
            let exhausted = try await eligibleSubscriptions(store)[0].originalId
            for number in 1...2 {
                #expect(try await store.put(TestStore.extend(exhausted), body: single("\(number)")).status == 200)
            }
            store.clock.advance(by: .seconds(1))
            let statuses = try await store.listed("subscriptionStatus")
            let before = try await store.world("transaction").compactMapValues(\.object)
            let extended = try await count(store, "RENEWAL_EXTENDED")
            let failures = try await count(store, "RENEWAL_EXTENSION", "FAILURE")
            let started = try await store.post(Self.path, body: body())
            #expect(try started.status == 200 && started.json.members.map(\.key) == ["requestIdentifier"])
            #expect(try started.json["requestIdentifier"]?.string == Self.request)
            for _ in 1...2 {
                let json = try await status(store).json
                #expect(json["complete"] == .bool(false) && json["succeededCount"] == nil)
            }
            let last = try await status(store).json
            #expect(last["complete"] == .bool(true) && last.moment("completeDate") != nil)
            let line = try #require(try await store.actions.last)
            let succeeded = (line["succeeded"]?.array ?? []).compactMap(\.string)
            let failed = (line["failed"]?.array ?? []).compactMap(\.string)
            #expect(line["complete"] == .bool(true) && line.moment("applied") == 1)
            #expect(last.moment("succeededCount") == Int64(succeeded.count) && succeeded.count > 5)
            #expect(last.moment("failedCount") == Int64(failed.count) && failed.contains(exhausted))
            // A complete request stays as it is.
            #expect(try await status(store).json == last)
            // The world and the notifications.
            store.clock.advance(by: .seconds(1))
            let after = try await store.world("transaction").compactMapValues(\.object)
            for (id, entry) in statuses {
                let current = try #require(entry["transactionId"]?.string)
                let isLonger = after[current]?.moment("expiresDate") != before[current]?.moment("expiresDate")
                #expect(isLonger == succeeded.contains(id))
                if isLonger || failed.contains(id) {
                    #expect(before[current]?["productId"]?.string == Self.product)
                    #expect(before[current]?["inAppOwnershipType"]?.string == "PURCHASED")
                }
            }
            #expect(try await count(store, "RENEWAL_EXTENDED") == extended + succeeded.count)
            #expect(try await count(store, "RENEWAL_EXTENSION", "FAILURE") == failures + failed.count)
            let summary = try await store.world("notification").values.compactMap(\.object)
                .compactMap { $0["summary"]?.object }
                .first { $0["requestIdentifier"]?.string == Self.request }
            #expect(summary?.moment("succeededCount") == Int64(succeeded.count))
            #expect(summary?.moment("failedCount") == Int64(failed.count))
            #expect(summary?["productId"]?.string == Self.product && summary?["storefrontCountryCodes"] == nil)
            #expect(try await store.put(TestStore.extend(succeeded[0]), body: single("3")).status == 200)
            #expect(try await store.put(TestStore.extend(succeeded[0]), body: single("4")).errorCode == 4_030_005)
        }
    }

    @Test func `the same request identifier is answered again, and extends nothing twice`() async throws {
        try await TestStore.run(customers: 60, configure: { $0.massExtensionRequests = 0 }) { store in
            #expect(try await store.post(Self.path, body: body()).status == 200)
            let world = try await store.world("transaction")
            #expect(try await status(store).json["complete"] == .bool(true))
            let repeated = try await store.post(Self.path, body: body())
            #expect(try repeated.status == 200 && repeated.json["requestIdentifier"]?.string == Self.request)
            #expect(try await store.world("transaction") == world)
            let line = try #require(try await store.actions.first)
            #expect(line.moment("requested") == 2 && line.moment("applied") == 1)
        }
    }

    @Test func `a list of storefronts limits it to their customers`() async throws {
        try await TestStore.run(customers: 150, configure: { $0.massExtensionRequests = 1 }) { store in
            let before = try await store.world("transaction").compactMapValues(\.object)
            let eligible = try await eligibleSubscriptions(store)
            let storefront = eligible[0].storefront
            #expect(Set(eligible.map(\.storefront)).count > 1)
            #expect(try await store.post(Self.path, body: body(storefronts: [storefront, "AUT"])).status == 200)
            #expect(try await status(store).json["complete"] == .bool(true))
            let after = try await store.world("transaction").compactMapValues(\.object)
            let changed = after.filter { before[$0.key]?.moment("expiresDate") != $0.value.moment("expiresDate") }
            #expect(!changed.isEmpty && changed.values.allSatisfy { $0["storefront"]?.string == storefront })
        }
    }

    @Test func `it continues with every change of the world, and after a restart`() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = 60
        configuration.massExtensionRequests = 3
        configuration.rateLimit = .none
        let clock = ManualClock()
        var lines: [JSONObject] = []
        try await TestStore.run(configuration, clock: clock) { store in
            #expect(try await store.post(Self.path, body: body()).status == 200)
            #expect(try await status(store).json["complete"] == .bool(false))
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            lines = try await store.actions
            #expect((lines.first?["succeeded"]?.array ?? []).count > 0)
        }
        try await TestStore.run(configuration, clock: clock) { store in
            #expect(try await store.actions == lines)
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            #expect(try await status(store).json["complete"] == .bool(true))
        }
    }

    @Test func `the status of an unknown request is not found`() async throws {
        try await TestStore.run(customers: 2) { store in
            #expect(try await store.post(Self.path, body: body()).status == 200)
            let upper = try await status(store, of: Self.request.uppercased())
            #expect(upper.status == 200)
            for (identifier, product, code) in [
                ("00000000-e2bb-4255-8caf-4136c566a962", Self.product, 4_040_009),
                (Self.request, "com.example.game.news.weekly", 4_040_009), ("request-1", Self.product, 4_000_011),
            ] as [(String, String, Int64)] {
                let answer = try await status(store, of: identifier, product: product)
                #expect(answer.errorCode == code && answer.status == code / 10_000)
            }
        }
    }

    @Test(
        arguments: [
            ("\"extendByDays\":5", "\"extendByDays\":91", 4_000_009),
            ("\"extendReasonCode\":3", "\"extendReasonCode\":-1", 4_000_010),
            ("\"extendReasonCode\":3,", "", 5_000_000),
            ("3b241101-", "3b241101", 4_000_011),
            ("plus.monthly", "coins.100", 4_000_023),
            ("\"productId\"", "\"product\"", 4_000_000),
            ("}", ",\"storefrontCountryCodes\":[]}", 4_000_027),
            ("}", ",\"storefrontCountryCodes\":[\"DE\"]}", 4_000_028),
            ("}", ",\"storefrontCountryCodes\":[\"XXX\"]}", 4_000_028),
            ("}", ",\"storefrontCountryCodes\":\"DEU\"}", 4_000_028),
        ] as [(String, String, Int64)]
    )
    func `a body that is not valid gets the documented code`(old: String, new: String, code: Int64) async throws {
        try await TestStore.run(customers: 2) { store in
            let answer = try await store.post(Self.path, body: body().replacing(old, with: new))
            #expect(answer.errorCode == code && answer.status == code / 10_000)
            #expect(try await store.actions.isEmpty)
        }
    }
}
