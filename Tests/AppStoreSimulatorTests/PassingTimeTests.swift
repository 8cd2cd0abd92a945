import AppStoreModel
import Foundation
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Time that passes in the world: periods end, and customers come.
struct PassingTimeTests {
    private static let day = Duration.seconds(86_400)

    private func advance(_ store: TestStore, _ body: String) async throws -> [JSONObject] {
        let answer = try await store.post("/simulator/advance", body: body)
        #expect(answer.status == 200)
        return try answer.json["changes"]?.array?.compactMap(\.object) ?? []
    }

    private func passTime(_ store: TestStore) async throws -> [JSONObject] {
        store.clock.advance(by: Self.day)
        return try await advance(store, "{\"until\":\(store.clock.now.rawValue)}")
    }

    @Test func `periods that are over renew without a gap or lapse, once, also for a restarted simulator`()
        async throws
    {
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = 60
        configuration.anchor = "2026-10-01T00:00:00Z"
        configuration.rateLimit = .none
        let clock = ManualClock()
        var transactions: [String: JSONValue] = [:]
        var types: Set<String> = []
        try await TestStore.run(configuration, clock: clock) { store in
            var renewed = 0
            for _ in 1...60 {
                let changes = try await passTime(store)
                let world = try await store.world("transaction")
                for change in changes where change["isNew"] == .bool(true) {
                    let payload = try #require(change["transactionId"]?.string.flatMap { world[$0]?.object })
                    #expect(payload["transactionReason"]?.string == "RENEWAL")
                    let begin = payload.moment("purchaseDate")
                    let previous = world.values.compactMap(\.object).first {
                        $0["originalTransactionId"]?.string == payload["originalTransactionId"]?.string
                            && $0.moment("expiresDate") == begin
                    }
                    #expect(previous != nil)
                    renewed += 1
                }
                // The same moment once more brings nothing.
                let again = try await advance(store, "{\"until\":\(store.clock.now.rawValue)}")
                #expect(again.isEmpty)
            }
            #expect(renewed > 20)
            transactions = try await store.world("transaction")
            for case let notification? in try await store.world("notification").values.map(\.object)
            where notification.moment("signedDate") ?? 0 > ManualClock.anchor.rawValue {
                types.insert(notification["notificationType"]?.string ?? "")
            }
            #expect(types.isSuperset(of: ["DID_RENEW", "EXPIRED", "DID_FAIL_TO_RENEW"]))
        }
        try await TestStore.run(configuration, clock: clock) { store in
            let restarted = try await store.world("transaction")
            #expect(restarted == transactions)
        }
    }

    @Test func `a renewal is found with the stored revision`() async throws {
        try await TestStore.run(customers: 60) { store in
            var revisions: [String: String] = [:]
            for id in try store.ids {
                let pages = try await store.pages(TestStore.history(id), decode: TransactionHistory.page)
                revisions[id] = pages.last?.cursor
            }
            var new: Set<String> = []
            for _ in 1...10 {
                let changes = try await passTime(store).filter { $0["isNew"] == .bool(true) }
                new.formUnion(changes.compactMap { $0["transactionId"]?.string })
            }
            var found = 0
            for (id, revision) in revisions {
                let answer = try await store.get(TestStore.history(id), [("revision", revision)])
                found += try TransactionHistory.page(answer.body).records.count
            }
            #expect(!new.isEmpty && found == new.count)
        }
    }

    @Test func `new customers are found by the IDs of their purchases, and nothing happens in the future`() async throws
    {
        try await TestStore.run(customers: 5) { store in
            let changes = try await advance(store, "{\"customers\":40}")
            let ids = Set(changes.compactMap { $0["transactionId"]?.string })
            let known = try store.ids
            #expect(ids.count == 40 && ids.isDisjoint(with: known))
            for id in ids {
                let pages = try await store.pages(TestStore.history(id), decode: TransactionHistory.page)
                #expect(pages.flatMap(\.records).count == 1)
            }
            let world = try await store.world("transaction")
            let payloads = ids.compactMap { world[$0]?.object }
            #expect(payloads.contains { $0["offerType"] != nil })
            #expect(payloads.contains { $0.moment("quantity") ?? 1 > 1 })
            #expect(payloads.contains { $0["inAppOwnershipType"]?.string == "FAMILY_SHARED" })
            let later = store.clock.now.rawValue + 400 * 86_400_000
            let early = try await advance(store, "{\"until\":\(later)}")
            let next = try await passTime(store)
            #expect((early + next).allSatisfy { $0.moment("date") ?? 0 <= store.clock.now.rawValue })
        }
    }

    @Test(arguments: ["{\"until\":1,\"from\":1}", "{\"until\":\"now\"}", "{\"customers\":0}"])
    func `a step of another form is refused`(_ body: String) async throws {
        try await TestStore.run(customers: 1) { store in
            let answer = try await store.post("/simulator/advance", body: body)
            #expect(answer.status == 400)
        }
    }
}
