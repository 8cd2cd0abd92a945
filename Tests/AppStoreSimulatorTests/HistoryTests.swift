import AppStoreModel
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct HistoryTests {
    @Test func `walking every customer finds the whole world once`() async throws {
        try await TestStore.run(customers: 40) { store in
            let expected = try await store.world("transaction")
            var found: [String: JSONValue] = [:]
            var count = 0
            for id in try store.ids {
                let pages = try await store.pages(TestStore.history(id), decode: TransactionHistory.page)
                #expect(pages.dropLast().allSatisfy { $0.records.count == 20 })
                #expect(pages.allSatisfy { $0.bundleId == "com.example.game" && $0.environment == "Production" })
                for payload in try store.contents(pages) {
                    found[payload["transactionId"]?.string ?? ""] = .object(payload)
                    count += 1
                }
            }
            #expect(count == found.count)
            #expect(found == expected)
        }
    }

    @Test func `a transaction that changes during a crawl is sent again, and none is missed`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 60) { store in
            let id = try #require(try store.ids.first)
            let path = TestStore.history(id)
            let first = try TransactionHistory.page(try await store.get(path).body)
            _ = try await store.post("/simulator/advance", body: "{\"changes\":7}")
            let rest = try await store.pages(path, from: first.cursor, decode: TransactionHistory.page)
            let found = try store.contents([first] + rest).map {
                ($0["transactionId"]?.string ?? "", JSONValue.object($0))
            }
            let newest = Dictionary(found) { _, later in later }
            #expect(try await store.world("transaction") == newest)
        }
    }

    @Test func `the last revision returns only new and changed transactions`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 30) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            let all = try await store.pages(path, decode: TransactionHistory.page)
            let last = try #require(all.last?.cursor)
            let nothing = try TransactionHistory.page(try await store.get(path, [("revision", last)]).body)
            #expect(nothing.records.isEmpty && !nothing.hasMore && nothing.cursor != nil)

            let answer = try await store.post("/simulator/advance", body: "{\"changes\":5}").json
            let changed = (answer["changes"]?.array ?? []).compactMap { $0.object?["transactionId"]?.string }
            let news = try await store.pages(path, from: last, decode: TransactionHistory.page)
            let found = try store.payloads(news).compactMap { $0["transactionId"]?.string }
            #expect(changed.count == 5)
            #expect(Set(found) == Set(changed))
        }
    }

    @Test func `descending order is the reverse of ascending order`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 45) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            let up = try await store.pages(path, [("sort", "ASCENDING")], decode: TransactionHistory.page)
            let down = try await store.pages(path, [("sort", "DESCENDING")], decode: TransactionHistory.page)
            #expect(up.count == 3)
            #expect(try store.contents(up) == store.contents(down).reversed())
        }
    }

    @Test(arguments: [
        [("productType", "CONSUMABLE")],
        [("productType", "AUTO_RENEWABLE"), ("productType", "NON_CONSUMABLE")],
        [("productType", "NON_RENEWABLE")],
        [("productId", "com.example.game.plus.monthly"), ("productId", "com.example.game.coins.100")],
        [("subscriptionGroupIdentifier", "21000001")],
        [("inAppOwnershipType", "FAMILY_SHARED")],
        [("inAppOwnershipType", "PURCHASED")],
        [("revoked", "true")],
        [("revoked", "false")],
        [("startDate", "1770000000000"), ("endDate", "1785000000000")],
    ])
    func `a filter returns exactly what it describes`(_ query: [(String, String)]) async throws {
        try await TestStore.run(customers: 30) { store in
            var found: Set<String> = []
            for id in try store.ids {
                let pages = try await store.pages(
                    TestStore.history(id),
                    query,
                    decode: TransactionHistory.page
                )
                found.formUnion(try store.payloads(pages).compactMap { $0["transactionId"]?.string })
            }
            let expected = try await store.world("transaction").filter { Self.matches($0.value, query) }
            #expect(found == Set(expected.keys))
            #expect(!found.isEmpty)
        }
    }

    /// Applies the filters to a payload, independently of the simulator.
    private static func matches(_ payload: JSONValue, _ query: [(String, String)]) -> Bool {
        func text(_ key: String) -> String { payload.object?[key]?.string ?? "" }
        let types = [
            "AUTO_RENEWABLE": "Auto-Renewable Subscription", "NON_CONSUMABLE": "Non-Consumable",
            "CONSUMABLE": "Consumable", "NON_RENEWABLE": "Non-Renewing Subscription",
        ]
        let date = payload.object?["purchaseDate"].flatMap { Int64(JSONWriter.text($0)) } ?? 0
        return Dictionary(grouping: query, by: \.0).allSatisfy { name, values in
            values.map(\.1).contains { value in
                switch name {
                case "productType": types[value] == text("type")
                case "productId": text("productId") == value
                case "subscriptionGroupIdentifier": text("subscriptionGroupIdentifier") == value
                case "inAppOwnershipType": text("inAppOwnershipType") == value
                case "revoked": (payload.object?["revocationDate"] != nil) == (value == "true")
                case "startDate": Int64(value).map { date >= $0 } ?? false
                case "endDate": Int64(value).map { date < $0 } ?? false
                default: false
                }
            }
        }
    }

    @Test func `refund history is every refund and no family revocation`() async throws {
        try await TestStore.run(customers: 60) { store in
            let expected = try await store.world("refund")
            var found: [String: JSONValue] = [:]
            for id in try store.ids {
                let pages = try await store.pages(TestStore.refunds(id), decode: RefundHistory.page)
                let payloads = try store.contents(pages)
                let dates = payloads.compactMap { $0["revocationDate"].flatMap { Int64(JSONWriter.text($0)) } }
                #expect(dates == dates.sorted() && dates.count == payloads.count)
                for payload in payloads { found[payload["transactionId"]?.string ?? ""] = .object(payload) }
            }
            #expect(found == expected && !found.isEmpty)
            #expect(!found.values.contains { $0.object?["revocationType"]?.string == "FAMILY_REVOKE" })
        }
    }
}
