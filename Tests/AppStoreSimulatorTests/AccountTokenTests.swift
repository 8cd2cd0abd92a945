import AppStoreModel
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct AccountTokenTests {
    private static let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"

    private func path(_ id: String) -> String { "/inApps/v1/transactions/\(id)/appAccountToken" }
    private func body(_ token: String = token) -> String { "{\"appAccountToken\":\"\(token)\"}" }

    @Test func `a token is set for the current transaction of a subscription, and found by a kept cursor`() async throws
    {
        try await TestStore.run(customers: 60) { store in
            let before = try await store.world("transaction").compactMapValues(\.object)
            let chains = Dictionary(grouping: before.values) { $0["originalTransactionId"]?.string ?? "" }
            let longer = chains.filter { chain in
                chain.value.count > 2 && chain.value[0]["inAppOwnershipType"]?.string == "PURCHASED"
            }
            let id = try #require(longer.keys.sorted().first)
            let current = try #require(try await store.listed("subscriptionStatus")[id]?["transactionId"]?.string)
            let revision = try await store.pages(TestStore.history(id), decode: TransactionHistory.page).last?.cursor
            store.clock.advance(by: .seconds(5))
            let answer = try await store.put(path(id), body: body(Self.token.uppercased()))
            #expect(answer.status == 200 && answer.body.isEmpty)
            let pages = try await store.pages(TestStore.history(id), from: revision, decode: TransactionHistory.page)
            let news = try store.payloads(pages)
            #expect(news.map { $0["transactionId"]?.string } == [current])
            #expect(news.first?["appAccountToken"]?.string == Self.token)
            let after = try await store.world("transaction").compactMapValues(\.object)
            #expect(after.filter { $0.value != before[$0.key] }.map(\.key) == [current])
            let renewal = try await store.listed("subscriptionStatus")[id]?["payload"]?.object
            #expect(renewal?["appAccountToken"]?.string == Self.token)
            // The same token once more changes nothing, another one replaces it.
            #expect(try await store.put(path(id), body: body(Self.token.uppercased())).status == 200)
            #expect(try await store.actions.map { [$0.moment("requested"), $0.moment("applied")] } == [[2, 1]])
            #expect(try await store.put(path(id), body: body("00000000-0000-0000-0000-000000000001")).status == 200)
            let replaced = try await store.world("transaction")[current]?.object?["appAccountToken"]?.string
            #expect(replaced == "00000000-0000-0000-0000-000000000001")
        }
    }

    @Test func `a request that is not valid gets the documented code`() async throws {
        try await TestStore.run(customers: 60) { store in
            let all = try await store.world("transaction").values.compactMap(\.object)
            func id(_ matches: (JSONObject) -> Bool, _ key: String = "transactionId") throws -> String {
                try #require(all.first(where: matches)?[key]?.string)
            }
            func isFirst(_ transaction: JSONObject) -> Bool {
                transaction["transactionId"] == transaction["originalTransactionId"]
            }
            let own = try id { $0["type"]?.string == "Consumable" }
            let cases: [(String, String, Int64)] = [
                ("x", body(), 4_000_006), (own, "{\"appAccountToken\":\"me\"}", 4_000_183),
                (own, "{\"appAccountToken\":null}", 4_000_183), (own, "{}", 4_000_183), (own, "[]", 4_000_000),
                (own, "{\"appAccountToken\":\"\(Self.token)\",\"account\":1}", 4_000_000),
                (try id({ _ in true }, "appTransactionId"), body(), 4_000_048), ("1", body(), 4_040_005),
                (try id { $0["transactionReason"]?.string == "RENEWAL" }, body(), 4_000_187),
                (try id { $0["inAppOwnershipType"]?.string == "FAMILY_SHARED" && isFirst($0) }, body(), 4_000_185),
            ]
            for (id, body, code) in cases {
                let answer = try await store.put(path(id), body: body)
                #expect(answer.errorCode == code && answer.status == code / 10_000, "\(id) \(body)")
            }
            #expect(try await store.actions.isEmpty)
            #expect(try await store.put(path(own), body: body()).status == 200)
        }
    }
}
