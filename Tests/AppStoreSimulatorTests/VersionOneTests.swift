import AppStoreModel
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// The deprecated versions of the two histories.
struct VersionOneTests {
    @Test(arguments: [[], [("revoked", "true")], [("excludeRevoked", "true")], [("sort", "DESCENDING")]])
    func `history version 1 is version 2 without the consumables that the app has finished`(
        filter: [(String, String)]
    ) async throws {
        try await TestStore.run(customers: 12, transactionsPerCustomer: 30) { store in
            var omitted: [JSONObject] = []
            var consumables = 0
            for id in try store.ids {
                let pages = try await store.pages(TestStore.historyV1(id), filter, decode: TransactionHistory.page)
                #expect(pages.dropLast().allSatisfy { $0.records.count == 20 && $0.hasMore })
                let found = try store.contents(pages)
                let complete = try store.contents(
                    try await store.pages(TestStore.history(id), filter, decode: TransactionHistory.page)
                )
                #expect(found == complete.filter { found.contains($0) })
                omitted += complete.filter { !found.contains($0) }
                consumables += found.count { $0["type"]?.string == "Consumable" }
            }
            #expect(omitted.allSatisfy { $0["type"]?.string == "Consumable" && $0["revocationDate"] == nil })
            // Those that were refunded or that the app has not finished are there.
            #expect(consumables > 0)
            #expect(omitted.isEmpty == (filter.first?.0 == "revoked"))
        }
    }

    @Test func `a revision belongs to its version, and later brings only what has changed`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 45) { store in
            let id = try #require(try store.ids.first)
            let pages = try await store.pages(TestStore.historyV1(id), decode: TransactionHistory.page)
            let last = try #require(pages.last?.cursor)
            #expect(try await store.get(TestStore.history(id), [("revision", last)]).errorCode == 4_000_005)
            let answer = try await store.post("/simulator/advance", body: "{\"changes\":8}").json
            let changed = Set((answer["changes"]?.array ?? []).compactMap { $0.object?["transactionId"]?.string })
            let news = try await store.pages(TestStore.historyV1(id), from: last, decode: TransactionHistory.page)
            let found = try Set(store.payloads(news).compactMap { $0["transactionId"]?.string })
            #expect(!found.isEmpty && found.isSubset(of: changed))
        }
    }

    @Test func `refund history version 1 is the latest 50 refunds in one answer, the newest first`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 150) { store in
            let id = try #require(try store.ids.first)
            for isOver in [false, true] {
                if isOver { _ = try await store.post("/simulator/advance", body: "{\"changes\":150}") }
                let json = try await store.get(TestStore.refundsV1(id)).json
                #expect(json.members.map(\.key) == ["signedTransactions"])
                let found = try (json["signedTransactions"]?.array ?? []).map { try store.payload($0.string) }
                let complete = try store.contents(
                    try await store.pages(TestStore.refunds(id), decode: RefundHistory.page)
                )
                #expect((complete.count > 50) == isOver && !complete.isEmpty)
                #expect(found.map(\.content) == complete.suffix(50).reversed())
            }
        }
    }

    @Test func `refund history version 1 takes only original transaction IDs`() async throws {
        try await TestStore.run(customers: 6) { store in
            let transactions = try await store.world("transaction").compactMapValues(\.object)
            for (id, payload) in transactions {
                let answer = try await store.get(TestStore.refundsV1(id))
                let isOriginal = payload["originalTransactionId"]?.string == id
                #expect(answer.status == (isOriginal ? 200 : 404) && answer.errorCode == (isOriginal ? nil : 4_040_005))
            }
            let appTransactionId = try #require(try await store.appTransactionIds.first)
            for (id, status, code) in [
                ("abc", 400, 4_000_008), ("", 400, 4_000_008), ("1", 404, 4_040_005),
                (appTransactionId, 404, 4_040_005),
            ] as [(String, Int, Int64)] {
                let answer = try await store.get(TestStore.refundsV1(id))
                #expect(answer.status == status && answer.errorCode == code)
            }
        }
        try await TestStore.run(customers: 1, transactionsPerCustomer: 0) { store in
            let answer = try await store.get(TestStore.refundsV1(try #require(try store.ids.first)))
            #expect(String(decoding: answer.body, as: UTF8.self) == "{\"signedTransactions\":[]}")
        }
    }
}
