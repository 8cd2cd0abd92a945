import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Get App Transaction Info.
struct AppTransactionTests {
    private func appTransaction(_ store: TestStore, of id: String) async throws -> JSONObject {
        let answer = try await store.get(TestStore.appTransaction(id))
        let json = try answer.json
        #expect(answer.status == 200 && json.members.map(\.key) == ["signedAppTransactionInfo"])
        return try store.payload(json["signedAppTransactionInfo"]?.string)
    }

    @Test func `a customer has one app transaction, with the ID that the customer's transactions have`() async throws {
        try await TestStore.run(customers: 15) { store in
            let listed = try await store.world("appTransaction")
            var found: Set<String> = []
            for (transactionId, value) in try await store.world("transaction") {
                let transaction = try #require(value.object)
                let payload = try await appTransaction(store, of: transactionId)
                let id = try #require(payload["appTransactionId"]?.string)
                #expect(transaction["appTransactionId"]?.string == id)
                #expect(listed[id]?.object == payload.content)
                #expect(payload["receiptType"] == transaction["environment"])
                #expect(payload["bundleId"] == transaction["bundleId"])
                #expect(payload.moment("appAppleId") == store.app.appAppleId)
                #expect(payload.moment("receiptCreationDate") == store.clock.now.rawValue)
                #expect(payload.moment("originalPurchaseDate") ?? .max < transaction.moment("purchaseDate") ?? 0)
                found.insert(id)
            }
            #expect(found == Set(listed.keys) && found.count > 10)
        }
    }

    @Test func `it is signed again in each answer, and its content stays the same, also in a notification`()
        async throws
    {
        try await TestStore.run(customers: 5) { store in
            let pages = try await store.notificationPages(store.wholeReach)
            let signed = try store.payloads(pages)
                .compactMap { $0["appData"]?.object?["signedAppTransactionInfo"]?.string }
            let jws: String = try #require(signed.first)
            let sent = try store.payload(jws)
            let id = try #require(sent["appTransactionId"]?.string)
            let first = try await appTransaction(store, of: id)
            store.clock.advance(by: .seconds(1))
            let second = try await appTransaction(store, of: id)
            #expect(second.moment("receiptCreationDate") == (first.moment("receiptCreationDate") ?? 0) + 1_000)
            #expect(first.content == second.content && first.content == sent.content)
            #expect(Set(first.members.map(\.key)).isSubset(of: ObjectShape.appTransaction.fields.map(\.key)))
        }
    }

    @Test func `a customer who has bought nothing has none until the first purchase`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 0) { store in
            let id = try #require(try store.ids.first)
            let answer = try await store.get(TestStore.appTransaction(id))
            #expect(answer.status == 404 && answer.errorCode == 4_040_019)
            #expect(try await store.world("appTransaction").isEmpty)
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            #expect(try await appTransaction(store, of: id)["appTransactionId"] != nil)
        }
    }
}
