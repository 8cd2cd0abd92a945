import AppStoreModel
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct FinishTransactionTests {
    private func path(_ id: String) -> String { "/inApps/v1/transactions/\(id)/finish" }

    @Test func `a finished consumable leaves version 1 of the history, and nothing else changes`() async throws {
        try await TestStore.run(customers: 60) { store in
            let before = try await store.world("transaction")
            var unfinished: [String] = []
            for (id, payload) in before.sorted(by: { $0.key < $1.key })
            where payload.object?["type"]?.string == "Consumable" && payload.object?["revocationDate"] == nil {
                if try await history(store, of: id).contains(id) { unfinished.append(id) }
            }
            let id = try #require(unfinished.first)
            for _ in 1...2 {
                let answer = try await store.post(path(id), body: "")
                #expect(answer.status == 200 && answer.body.isEmpty)
            }
            #expect(try await !history(store, of: id).contains(id))
            #expect(try await store.world("transaction") == before)
            #expect(try await store.actions.map { [$0.moment("requested"), $0.moment("applied")] } == [[2, 1]])
        }
    }

    private func history(_ store: TestStore, of id: String) async throws -> [String] {
        let pages = try await store.pages(TestStore.historyV1(id), decode: TransactionHistory.page)
        return try store.payloads(pages).compactMap { $0["transactionId"]?.string }
    }

    @Test func `a request that is not valid gets the documented code`() async throws {
        try await TestStore.run(customers: 4) { store in
            let known = try #require(try await store.world("transaction").first)
            let app = try #require(known.value.object?["appTransactionId"]?.string)
            let cases: [(String, String, Int64)] = [
                ("x", "", 4_000_006), ("1", "", 4_040_010), (app, "", 4_000_048), (known.key, "{}", 4_000_000),
            ]
            for (id, body, code) in cases {
                let answer = try await store.post(path(id), body: body)
                #expect(answer.errorCode == code && answer.status == code / 10_000, "\(id)")
            }
        }
    }
}
