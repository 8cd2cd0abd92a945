import AppStoreModel
import Foundation
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct ExtendRenewalDateTests {
    private func body(_ identifier: String = "request-1", days: Int = 7) -> String {
        "{\"extendByDays\":\(days),\"extendReasonCode\":3,\"requestIdentifier\":\"\(identifier)\"}"
    }

    /// The answers to one request for every subscription of the world, by original transaction ID.
    private func answers(_ store: TestStore, _ body: String) async throws -> [String: ServerAnswer] {
        var answers: [String: ServerAnswer] = [:]
        for id in try await store.listed("subscriptionStatus").keys.sorted() {
            answers[id] = try await store.put(TestStore.extend(id), body: body)
        }
        return answers
    }

    @Test func `an extension moves the end of the current period, is found by a kept cursor, and is announced`()
        async throws
    {
        try await TestStore.run(customers: 25) { store in
            let before = try await store.world("transaction").compactMapValues(\.object)
            let statuses = try await store.listed("subscriptionStatus")
            var revisions: [String: String] = [:]
            for id in statuses.keys {
                revisions[id] = try await store.pages(TestStore.history(id), decode: TransactionHistory.page).last?
                    .cursor
            }
            store.clock.advance(by: .seconds(5))
            let extended = try await answers(store, body(days: 10)).filter { $0.value.status == 200 }
            #expect(extended.count > 10)
            store.clock.advance(by: .seconds(1))
            let after = try await store.listed("subscriptionStatus")
            let told = try await store.transactions(inNotifications: "RENEWAL_EXTENDED")
            for (id, answer) in extended {
                let current = try #require(statuses[id]?["transactionId"]?.string)
                let json = try answer.json
                let end = try #require(before[current]?.moment("expiresDate")) + 10 * Moment.day
                #expect(json["originalTransactionId"]?.string == id && json["success"] == .bool(true))
                #expect(json["webOrderLineItemId"] == before[current]?["webOrderLineItemId"])
                #expect(json.moment("effectiveDate") == end)
                // The transaction and the renewal info.
                let status = try #require(after[id])
                #expect(status.moment("status") == 1 && status["payload"]?.object?.moment("renewalDate") == end)
                let pages = try await store.pages(
                    TestStore.history(id),
                    from: revisions[id],
                    decode: TransactionHistory.page
                )
                let news = try store.payloads(pages)
                #expect(news.contains { $0["transactionId"]?.string == current && $0.moment("expiresDate") == end })
                // The notification.
                #expect(told[id]?.contains { $0.moment("expiresDate") == end } == true)
            }
        }
    }

    @Test func `an extension makes the periods of the family members longer as well, and announces each`() async throws
    {
        try await TestStore.run(customers: 60) { store in
            let shared = { (status: JSONObject) in
                status["transactionId"]?.string
            }
            let before = try await store.world("transaction").compactMapValues(\.object)
            let members = Set(before.filter { $0.value["inAppOwnershipType"]?.string == "FAMILY_SHARED" }.keys)
            let current = Set(try await store.listed("subscriptionStatus").values.compactMap(shared)).intersection(
                members
            )
            #expect(!current.isEmpty)
            for answer in try await answers(store, body(days: 10)).values where answer.status != 200 {
                #expect(try answer.json["success"] == nil)
            }
            let after = try await store.world("transaction").compactMapValues(\.object)
            // Some notifications enter the history days later.
            store.clock.advance(by: .days(10))
            let told = try await store.transactions(inNotifications: "RENEWAL_EXTENDED")
            let extended = current.filter { after[$0]?.moment("expiresDate") != before[$0]?.moment("expiresDate") }
            #expect(!extended.isEmpty)
            for id in extended {
                let end = try #require(after[id]?.moment("expiresDate"))
                #expect(try end == #require(before[id]?.moment("expiresDate")) + 10 * Moment.day)
                let original = try #require(after[id]?["originalTransactionId"]?.string)
                #expect(told[original]?.contains { $0.moment("expiresDate") == end } == true)
            }
        }
    }

    @Test func `the repeat of a request is answered as the first one, and does not extend twice`() async throws {
        try await TestStore.run(customers: 25) { store in
            let first = try await answers(store, body()).filter { $0.value.status == 200 }
            let world = try await store.world("transaction")
            store.clock.advance(by: .days(1))
            for (id, answer) in first {
                let repeated = try await store.put(TestStore.extend(id), body: body(days: 30))
                #expect(repeated.status == 200 && repeated.body == answer.body)
            }
            #expect(try await store.world("transaction") == world)
            #expect(try await store.actions.reduce(0) { $0 + ($1.moment("applied") ?? 0) } == Int64(first.count))
        }
    }

    @Test func `a subscription has two extensions within 365 days`() async throws {
        try await TestStore.run(customers: 25) { store in
            let id = try await store.eligibleSubscription()
            #expect(try await store.put(TestStore.extend(id), body: body()).status == 200)
            #expect(try await store.put(TestStore.extend(id), body: body("request-2", days: 90)).status == 200)
            let third = try await store.put(TestStore.extend(id), body: body("request-3"))
            #expect(third.status == 403 && third.errorCode == 4_030_005)
            // The notification of the first extension does not have the second one.
            store.clock.advance(by: .seconds(1))
            let told = try await store.transactions(inNotifications: "RENEWAL_EXTENDED")[id] ?? []
            let ends = told.compactMap { $0.moment("expiresDate") }.sorted()
            #expect(zip(ends, ends.dropFirst()).contains { $1 - $0 == 90 * Moment.day })
        }
    }

    @Test func `only active and paid subscriptions of the customer are extended`() async throws {
        try await TestStore.run(customers: 150) { store in
            let statuses = try await store.listed("subscriptionStatus")
            let transactions = try await store.world("transaction").compactMapValues(\.object)
            var reasons: Set<String> = []
            for (id, answer) in try await answers(store, body()) {
                let status = try #require(statuses[id])
                let current = try #require(status["transactionId"]?.string.flatMap { transactions[$0] })
                if current["inAppOwnershipType"]?.string == "FAMILY_SHARED" {
                    #expect(answer.status == 403 && answer.errorCode == 4_030_007)
                    reasons.insert("family")
                } else if status.moment("status") != 1 {
                    #expect(answer.status == 403 && answer.errorCode == 4_030_004)
                    reasons.insert("status \(status.moment("status") ?? 0)")
                } else if current["offerDiscountType"]?.string == "FREE_TRIAL" {
                    #expect(answer.status == 403 && answer.errorCode == 4_030_004)
                    reasons.insert("free")
                } else {
                    #expect(answer.status == 200)
                }
            }
            #expect(reasons == ["family", "free", "status 2", "status 3", "status 4", "status 5"])
            let coins = try #require(transactions.values.first { $0["type"]?.string == "Consumable" })
            let answer = try await store.put(
                TestStore.extend(coins["originalTransactionId"]?.string ?? ""),
                body: body()
            )
            #expect(answer.status == 403 && answer.errorCode == 4_030_004)
        }
    }

    @Test(
        arguments: [
            (#"{"extendByDays":0,"extendReasonCode":1,"requestIdentifier":"a"}"#, 4_000_009),
            (#"{"extendByDays":91,"extendReasonCode":1,"requestIdentifier":"a"}"#, 4_000_009),
            (#"{"extendByDays":"7","extendReasonCode":1,"requestIdentifier":"a"}"#, 4_000_009),
            (#"{"extendReasonCode":1,"requestIdentifier":"a"}"#, 4_000_009),
            (#"{"extendByDays":7,"requestIdentifier":"a"}"#, 5_000_000),
            (#"{"extendByDays":7,"extendReasonCode":4,"requestIdentifier":"a"}"#, 4_000_010),
            (#"{"extendByDays":7,"extendReasonCode":null,"requestIdentifier":"a"}"#, 4_000_010),
            (#"{"extendByDays":7,"extendReasonCode":1}"#, 4_000_011),
            (#"{"extendByDays":7,"extendReasonCode":1,"requestIdentifier":""}"#, 4_000_011),
            (#"{"extendByDays":7,"extendReasonCode":1,"requestIdentifier":"a","reason":1}"#, 4_000_000),
            (#"{"extendByDays":7,"extendByDays":8,"extendReasonCode":1,"requestIdentifier":"a"}"#, 4_000_000),
            ("[]", 4_000_000), ("", 4_000_000),
        ] as [(String, Int64)]
    )
    func `a body that is not valid gets the documented code, and nothing changes`(body: String, code: Int64)
        async throws
    {
        try await TestStore.run(customers: 12) { store in
            let id = try #require(try await store.subscriptions(withStatus: 1).first)
            let answer = try await store.put(TestStore.extend(id), body: body)
            #expect(answer.errorCode == code && answer.status == code / 10_000)
            #expect(try await store.actions.isEmpty)
        }
    }

    @Test func `a request identifier has at most 128 characters`() async throws {
        try await TestStore.run(customers: 25) { store in
            let id = try await store.eligibleSubscription()
            let longest = String(repeating: "é", count: 128)
            #expect(try await store.put(TestStore.extend(id), body: body(longest + "e")).errorCode == 4_000_011)
            #expect(try await store.put(TestStore.extend(id), body: body(longest)).status == 200)
        }
    }

    @Test func `an ID that is malformed, unknown or not an original one is refused`() async throws {
        try await TestStore.run(customers: 20) { store in
            for (id, code) in [("x", 4_000_008), ("", 4_000_008), ("1", 4_040_005)] as [(String, Int64)] {
                let answer = try await store.put(TestStore.extend(id), body: body())
                #expect(answer.errorCode == code && answer.status == code / 10_000, "\(id)")
            }
            let renewal = try await store.world("transaction").values.compactMap(\.object)
                .first { $0["transactionReason"]?.string == "RENEWAL" }
            let id = try #require(renewal?["transactionId"]?.string)
            #expect(try await store.put(TestStore.extend(id), body: body()).errorCode == 4_040_005)
        }
    }

    @Test func `a restarted simulator has the extensions, in their order among the other changes`() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = 30
        let clock = ManualClock()
        var lines: [JSONObject] = []
        var worlds: [String: [String: JSONValue]] = [:]
        try await TestStore.run(configuration, clock: clock) { store in
            _ = try await store.post("/simulator/advance", body: "{\"changes\":5}")
            #expect(try await answers(store, body()).values.contains { $0.status == 200 })
            _ = try await store.post("/simulator/advance", body: "{\"changes\":5}")
            _ = try await answers(store, body("request-2"))
            lines = try await store.actions
            for kind in ["transaction", "subscriptionStatus"] { worlds[kind] = try await store.world(kind) }
        }
        // A step that was not written to its end was not answered either.
        let journal = try FileHandle(forWritingTo: URL(filePath: directory + "/steps.jsonl"))
        try journal.seekToEnd()
        try journal.write(contentsOf: Data("{\"changes\":".utf8))
        try journal.close()
        try await TestStore.run(configuration, clock: clock) { store in
            #expect(try await store.actions == lines)
            for (kind, world) in worlds { #expect(try await store.world(kind) == world) }
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            worlds["transaction"] = try await store.world("transaction")
        }
        try await TestStore.run(configuration, clock: clock) { store in
            let world = try await store.world("transaction")
            #expect(world == worlds["transaction"])
        }
    }
}
