import AppStoreModel
import SignedData
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// What Apple's servers were seen to do for hours or days: tokens refused for a while, prices left out, and two IDs of one purchase.
struct SpellAndOmissionTests {
    private func setFaults(_ rule: String, _ store: TestStore) async throws {
        #expect(try await store.put("/simulator/faults", body: "{\"rules\":[\(rule)]}").status == 200)
    }

    @Test func `a spell of 401 begins with one request, and ends when its time is over`() async throws {
        try await TestStore.run(customers: 2) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            try await setFaults(#"{"atRequest":2,"fault":"refuseToken","milliseconds":20000}"#, store)
            var statuses: [Int] = []
            for pause in [0, 0, 19, 2, 0] {
                store.clock.advance(by: .seconds(pause))
                let answer = try await store.get(path)
                statuses.append(answer.status)
                if answer.status == 401 { #expect(answer.body.isEmpty) }
            }
            #expect(statuses == [200, 401, 401, 200, 200])
        }
    }

    @Test func `a new token is refused until it is old enough, and an old one never`() async throws {
        try await TestStore.run(customers: 2) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            try await setFaults(#"{"fault":"refuseNewToken","milliseconds":300}"#, store)
            for _ in 1...2 {
                let token = try store.token()
                #expect(try await store.get(path, token: token).status == 401)
                store.clock.advance(by: .milliseconds(299))
                #expect(try await store.get(path, token: token).status == 401)
                store.clock.advance(by: .milliseconds(1))
                #expect(try await store.get(path, token: token).status == 200)
            }
        }
    }

    /// All transactions that the histories and the notifications have, by transaction ID.
    private func transactions(_ store: TestStore) async throws -> (histories: [JSONObject], notified: [JSONObject]) {
        var histories: [JSONObject] = []
        for id in try store.ids {
            histories += try store.payloads(
                try await store.pages(TestStore.history(id), decode: TransactionHistory.page)
            )
        }
        let end = store.clock.now.rawValue
        let pages = try await store.notificationPages("{\"startDate\":\(end - 30 * Moment.day),\"endDate\":\(end)}")
        let notified = try store.payloads(pages).compactMap { notification in
            try notification["data"]?.object?["signedTransactionInfo"].map { try store.payload($0.string) }
        }
        return (histories, notified)
    }

    @Test func `prices are left out of every transaction, also in notifications, until Apple repairs it`() async throws
    {
        try await TestStore.run(customers: 6) { store in
            let before = try await transactions(store)
            #expect(before.histories.allSatisfy { $0["price"] != nil && $0["currency"] != nil })
            try await setFaults(#"{"fault":"omitPrice"}"#, store)
            store.clock.advance(by: .seconds(1))
            let omitted = try await transactions(store)
            #expect(
                omitted.histories.count == before.histories.count && omitted.notified.count == before.notified.count
            )
            for payload in omitted.histories + omitted.notified {
                #expect(payload["price"] == nil && payload["currency"] == nil && payload["productId"] != nil)
            }
            try await setFaults(#"{"fault":"omitPrice","times":1,"atRequest":999999}"#, store)
            #expect(try await transactions(store).histories.allSatisfy { $0["price"] != nil })
        }
    }

    @Test func `the history has a purchase under another ID than its notification`() async throws {
        try await TestStore.run(customers: 12) { store in
            try await setFaults(#"{"endpoint":"transactionHistory","fault":"secondTransactionId"}"#, store)
            let (histories, notified) = try await transactions(store)
            let members = [
                "originalTransactionId", "productId", "purchaseDate", "expiresDate", "price", "currency",
                "appTransactionId",
            ]
            var pairs = 0
            for notification in notified {
                guard let item = notification["webOrderLineItemId"]?.string,
                    let same = histories.first(where: { $0["webOrderLineItemId"]?.string == item }),
                    let id = notification["transactionId"]?.string.flatMap(UInt64.init)
                else { continue }
                pairs += 1
                #expect(same["transactionId"]?.string == String(id + 1))
                for member in members where member != "expiresDate" {
                    #expect(same[member] == notification[member], "\(member)")
                }
            }
            #expect(pairs > 5)
            #expect(histories.contains { $0["webOrderLineItemId"] == nil })
        }
    }
}
