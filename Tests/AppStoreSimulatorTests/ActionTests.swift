import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// What every request that changes the world has in common.
extension TestStore {
    static func extend(_ id: String) -> String { "/inApps/v1/subscriptions/extend/\(id)" }

    /// The lines of `GET /simulator/actions`.
    var actions: [JSONObject] {
        get async throws {
            try await get("/simulator/actions", token: .some(nil)).body.split(separator: UInt8(ascii: "\n"))
                .map { try StrictJSON.parseObject(Array($0)) }
        }
    }

    /// The original transaction IDs of subscriptions with a status of 1 to 5, in order.
    func subscriptions(withStatus status: Int64) async throws -> [String] {
        try await listed("subscriptionStatus").filter { $0.value.moment("status") == status }.keys.sorted()
    }

    /// A subscription that can be extended.
    func eligibleSubscription() async throws -> String {
        let transactions = try await world("transaction").compactMapValues(\.object)
        let eligible = try await listed("subscriptionStatus").filter { entry in
            guard let current = entry.value["transactionId"]?.string.flatMap({ transactions[$0] }) else { return false }
            return entry.value.moment("status") == 1 && current["offerDiscountType"]?.string != "FREE_TRIAL"
                && current["inAppOwnershipType"]?.string == "PURCHASED"
        }
        return try #require(eligible.keys.min())
    }

    /// The transactions in all notifications of a type, by original transaction ID.
    func transactions(inNotifications type: String) async throws -> [String: [JSONObject]] {
        let transactions = try await world("notification").values.compactMap(\.object)
            .filter { $0["notificationType"]?.string == type }
            .compactMap { $0["data"]?.object?["signedTransactionInfo"]?.string }
            .map(payload)
        return Dictionary(grouping: transactions) { $0["originalTransactionId"]?.string ?? "" }
    }
}

struct ActionTests {
    private func body(_ identifier: String = "request-1", days: Int = 7) -> String {
        "{\"extendByDays\":\(days),\"extendReasonCode\":3,\"requestIdentifier\":\"\(identifier)\"}"
    }

    private func setFaults(_ rules: String, in store: TestStore) async throws {
        #expect(try await store.put("/simulator/faults", body: "{\"rules\":[\(rules)]}").status == 200)
    }

    @Test func `a request that is applied and whose connection is dropped is applied once, and its repeat says so`()
        async throws
    {
        try await TestStore.run(customers: 40) { store in
            let id = try await store.eligibleSubscription()
            try await setFaults(
                "{\"endpoint\":\"extendRenewalDate\",\"transactionId\":\"\(id)\",\"atRequest\":1,\"fault\":\"applyThenDrop\"}",
                in: store
            )
            await #expect(throws: (any Error).self) { try await store.put(TestStore.extend(id), body: body()) }
            let repeated = try await store.put(TestStore.extend(id), body: body())
            #expect(try repeated.status == 200 && repeated.json["success"] == .bool(true))
            let line = try #require(try await store.actions.first)
            #expect(line.moment("requested") == 2 && line.moment("applied") == 1)
        }
    }

    @Test func `a fault before the route changes nothing, and one after it changes the world`() async throws {
        try await TestStore.run(customers: 40) { store in
            let id = try await store.eligibleSubscription()
            let before = try await store.world("transaction")
            try await setFaults(
                """
                {"endpoint": "extendRenewalDate", "atRequest": 1, "fault": "status", "status": 500, "errorCode": 5000000},
                {"endpoint": "extendRenewalDate", "atRequest": 2, "fault": "applyThenStatus", "status": 500,
                 "errorCode": 5000001}
                """,
                in: store
            )
            let first = try await store.put(TestStore.extend(id), body: body())
            #expect(first.status == 500 && first.errorCode == 5_000_000)
            #expect(try await store.world("transaction") == before)
            #expect(try await store.actions.isEmpty)
            let second = try await store.put(TestStore.extend(id), body: body())
            #expect(second.status == 500 && second.errorCode == 5_000_001)
            #expect(try await store.world("transaction") != before)
            #expect(try await store.actions.first?.moment("applied") == 1)
        }
    }

    @Test func `the repeat of an applied request is refused when a rule says so, with the code that it names`()
        async throws
    {
        try await TestStore.run(customers: 40) { store in
            let id = try await store.eligibleSubscription()
            try await setFaults("{\"endpoint\":\"extendRenewalDate\",\"fault\":\"refuseRepeat\"}", in: store)
            #expect(try await store.put(TestStore.extend(id), body: body()).status == 200)
            let refused = try await store.put(TestStore.extend(id), body: body())
            #expect(refused.status == 403 && refused.errorCode == 4_030_005)
            try await setFaults("{\"fault\":\"refuseRepeat\",\"errorCode\":4030004}", in: store)
            let again = try await store.put(TestStore.extend(id), body: body())
            #expect(again.status == 403 && again.errorCode == 4_030_004)
            let line = try #require(try await store.actions.first)
            #expect(line.moment("requested") == 3 && line.moment("applied") == 1)
        }
    }

    @Test func `a fault that applies and answers with a status needs one`() async throws {
        try await TestStore.run(customers: 1) { store in
            let answer = try await store.put("/simulator/faults", body: "{\"rules\":[{\"fault\":\"applyThenStatus\"}]}")
            #expect(answer.status == 400)
        }
    }
}
