import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Look Up Order ID.
struct OrderTests {
    /// The payloads of an order that exists.
    private func order(_ store: TestStore, _ id: String) async throws -> [JSONObject] {
        let answer = try await store.get(TestStore.order(id))
        let json = try answer.json
        #expect(answer.status == 200 && json.members.map(\.key) == ["status", "signedTransactions"])
        #expect(json.moment("status") == 0)
        return try (json["signedTransactions"]?.array ?? []).map { try store.payload($0.string) }
    }

    private func transactionIds(_ line: JSONObject) -> [String] {
        (line["payload"]?.object?["transactionIds"]?.array ?? []).compactMap(\.string)
    }

    @Test func `every purchase is in one order, and the order has its transactions as the history has them`()
        async throws
    {
        try await TestStore.run(customers: 25) { store in
            let transactions = try await store.world("transaction").compactMapValues(\.object)
            let orders = try await store.listed("order").mapValues(transactionIds)
            let purchases = transactions.filter { $0.value["inAppOwnershipType"]?.string == "PURCHASED" }
            #expect(orders.values.flatMap(\.self).sorted() == purchases.keys.sorted())
            #expect(purchases.count < transactions.count)
            #expect(orders.keys.allSatisfy { $0.wholeMatch(of: /M[A-Z2-9]{9}/) != nil })
            for (id, expected) in orders {
                let found = try await order(store, id)
                #expect(found.map { $0["transactionId"]?.string } == expected)
                #expect(found.map(\.content) == expected.map { transactions[$0] })
                #expect(found.allSatisfy { $0.moment("signedDate") == store.clock.now.rawValue })
            }
            let pairs = orders.values.filter { $0.count == 2 }
            #expect(!pairs.isEmpty && orders.values.allSatisfy { (1...2).contains($0.count) })
            for pair in pairs {
                let dates = pair.compactMap { transactions[$0]?.moment("purchaseDate") }
                #expect(dates[1] - dates[0] == 20_000)
            }
        }
    }

    @Test func `orders csv has an order of each customer with a purchase, and changes keep the orders`() async throws {
        try await TestStore.run(customers: 25) { store in
            let ids = try store.orderIds
            var customers: [String?] = []
            var sizes: [Int] = []
            for id in ids {
                let found = try await order(store, id)
                sizes.append(found.count)
                customers.append(found.first?["appTransactionId"]?.string)
            }
            let buyers = try await store.world("transaction").values.compactMap(\.object)
                .filter { $0["inAppOwnershipType"]?.string == "PURCHASED" }
                .compactMap { $0["appTransactionId"]?.string }
            #expect(customers.count == Set(customers).count && Set(customers) == Set(buyers))
            #expect(Set(sizes) == [1, 2])
            let before = try await store.listed("order").mapValues(transactionIds)
            let answer = try await store.post("/simulator/advance", body: "{\"changes\":30}").json
            let new = (answer["changes"]?.array ?? []).compactMap(\.object)
                .filter { $0["isNew"] == .bool(true) }.compactMap { $0["transactionId"]?.string }
            let after = try await store.listed("order").mapValues(transactionIds)
            #expect(after.filter { before[$0.key] != nil } == before)
            #expect(after.filter { before[$0.key] == nil }.values.flatMap(\.self).sorted() == new.sorted())
        }
    }

    @Test func `an unknown order is a result without transactions`() async throws {
        try await TestStore.run(customers: 2) { store in
            let known = try #require(try store.orderIds.first)
            for id in ["MABCDE2345", "M", "1", known.lowercased(), known + "A", String(repeating: "M", count: 64)] {
                let answer = try await store.get(TestStore.order(id))
                #expect(answer.status == 200, "\(id)")
                #expect(String(decoding: answer.body, as: UTF8.self) == "{\"status\":1}", "\(id)")
            }
        }
    }

    @Test(arguments: [
        "", "MABC%20DE234", "M-ABCDE2345", "M%C3%84BCDE2345", "MABCDE/2345", String(repeating: "M", count: 200),
    ])
    func `an order ID with spaces, other characters or 200 characters is a bad request`(id: String) async throws {
        try await TestStore.run(customers: 1) { store in
            let answer = try await store.get(TestStore.order(id))
            #expect(answer.status == 400 && answer.errorCode == 4_000_000)
        }
    }

    @Test func `the sandbox has no Look Up Order ID`() async throws {
        try await TestStore.run(customers: 3, configure: { $0.environment = .sandbox }) { store in
            #expect(try store.orderIds.isEmpty)
            #expect(try await store.listed("order").isEmpty)
            let answer = try await store.get(TestStore.order("MABCDE2345"))
            #expect(answer.status == 404 && answer.body.isEmpty)
        }
    }

    @Test func `an order ID leads back to its place, and the seed changes it`() {
        let one = OrderIDs(seed: 1)
        let other = OrderIDs(seed: 2)
        var seen: Set<String> = []
        for customer in [0, 1, 2, 999, 999_999] {
            for position in [0, 1, 36, 199, 2_702] {
                let text = one.text(customer: customer, position: position)
                let place = one.place(of: text)
                #expect(place?.customer == customer && place?.position == position)
                #expect(text != other.text(customer: customer, position: position))
                #expect(text == OrderIDs(seed: 1).text(customer: customer, position: position))
                seen.insert(text)
            }
        }
        #expect(seen.count == 25)
        for text in ["", "M", "XABCDE2345", "MABCDE234O", "MABCDE23456"] { #expect(one.place(of: text) == nil) }
    }
}
