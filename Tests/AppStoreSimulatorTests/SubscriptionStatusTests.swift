import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Get All Subscription Statuses: what it answers agrees with everything else the store says.
struct SubscriptionStatusTests {
    /// One entry of `lastTransactions`, with its verified payloads.
    private struct Entry {
        let group: String?
        let originalId: String
        let status: Int64?
        let transaction: JSONObject
        let renewal: JSONObject

        var transactionId: String { transaction["transactionId"]?.string ?? "" }

        /// The status that the two payloads imply at a moment, in milliseconds since 1970.
        func impliedStatus(at now: Int64) -> Int64? {
            if transaction["revocationDate"] != nil { return 5 }
            if transaction.moment("expiresDate") ?? 0 > now { return 1 }
            if renewal["isInBillingRetryPeriod"] == .bool(true) {
                return renewal.moment("gracePeriodExpiresDate") ?? 0 > now ? 4 : 3
            }
            return renewal["expirationIntent"] == nil ? nil : 2
        }
    }

    private func entries(_ store: TestStore, of id: String, _ filter: [String] = []) async throws -> [Entry] {
        let answer = try await store.get(TestStore.statuses(id), filter.map { ("status", $0) })
        #expect(answer.status == 200 && answer.contentType == "application/json")
        let json = try answer.json
        #expect(json["environment"]?.string == "Production" && json["bundleId"]?.string == store.app.bundleId)
        #expect(json.moment("appAppleId") == store.app.appAppleId)
        let groups = try #require(json["data"]?.array).compactMap(\.object)
        #expect(Set(groups.map { $0["subscriptionGroupIdentifier"]?.string }).count == groups.count)
        return try groups.flatMap { group in
            let items = (group["lastTransactions"]?.array ?? []).compactMap(\.object)
            #expect(!items.isEmpty)
            return try items.map { item in
                Entry(
                    group: group["subscriptionGroupIdentifier"]?.string,
                    originalId: item["originalTransactionId"]?.string ?? "",
                    status: item.moment("status"),
                    transaction: try store.payload(item["signedTransactionInfo"]?.string),
                    renewal: try store.payload(item["signedRenewalInfo"]?.string)
                )
            }
        }
    }

    private func everything(_ store: TestStore) async throws -> [String: Entry] {
        var found: [Entry] = []
        for id in try store.ids { found += try await entries(store, of: id) }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.originalId, $0) })
    }

    /// Checks every entry against the world's transactions and the clock.
    private func expectConsistent(_ found: [String: Entry], in store: TestStore) async throws {
        let now = store.clock.now.rawValue
        let transactions = try await store.world("transaction").compactMapValues(\.object)
        let subscriptions = Dictionary(
            grouping: transactions.values.filter { $0["type"]?.string == "Auto-Renewable Subscription" },
            by: { $0["originalTransactionId"]?.string ?? "" }
        )
        #expect(Set(found.keys) == Set(subscriptions.keys))
        for (originalId, entry) in found {
            let latest = subscriptions[originalId]?.max {
                $0.moment("purchaseDate") ?? 0 < $1.moment("purchaseDate") ?? 0
            }
            #expect(entry.transaction.content == latest)
            #expect(entry.transaction.moment("signedDate") == now && entry.renewal.moment("signedDate") == now)
            for key in ["originalTransactionId", "productId", "appTransactionId", "appAccountToken", "environment"] {
                #expect(entry.renewal[key] == entry.transaction[key], "\(key)")
            }
            #expect(entry.renewal["originalTransactionId"]?.string == originalId)
            #expect(entry.renewal["renewalDate"] == entry.transaction["expiresDate"])
            #expect(entry.group == entry.transaction["subscriptionGroupIdentifier"]?.string)
            #expect(entry.status != nil && entry.status == entry.impliedStatus(at: now), "\(originalId)")
        }
    }

    @Test func `every subscription has its latest transaction and the status that its records imply, then and later`()
        async throws
    {
        try await TestStore.run(customers: 150) { store in
            let found = try await everything(store)
            try await expectConsistent(found, in: store)
            #expect(Set(found.values.compactMap(\.status)) == [1, 2, 3, 4, 5])
            // Nothing renews by itself: periods that end lapse, into each of the three states.
            for days in [9, 20, 400] as [Int64] {
                store.clock.advance(by: .days(days))
                let later = try await everything(store)
                try await expectConsistent(later, in: store)
                let lapsed = later.filter { found[$0.key]?.status == 1 && $0.value.status != 1 }
                let expected: Set<Int64> = days == 9 ? [2, 4] : days == 20 ? [2, 3, 4] : [2]
                #expect(expected.isSubset(of: Set(lapsed.values.compactMap(\.status))), "after \(days) more days")
            }
        }
    }

    @Test func `the renewal info is the one that the newest notification about the subscription has`() async throws {
        try await TestStore.run(customers: 60) { store in
            _ = try await store.post("/simulator/advance", body: "{\"changes\":40}")
            let found = try await everything(store)
            let known = try await store.world("renewal")
            #expect(known.count > 40)
            for (originalId, payload) in known {
                #expect(found[originalId]?.renewal.content == payload.object?.content, "\(originalId)")
            }
            let listed = try await store.listed("subscriptionStatus")
            #expect(Set(listed.keys) == Set(found.keys))
            for (originalId, entry) in found {
                #expect(listed[originalId]?["payload"]?.object == entry.renewal.content)
                #expect(listed[originalId]?.moment("status") == entry.status)
                #expect(listed[originalId]?["transactionId"]?.string == entry.transactionId)
                #expect(listed[originalId]?["subscriptionGroupIdentifier"]?.string == entry.group)
            }
        }
    }

    @Test func `a changed subscription is signed later than before, also when no time passes`() async throws {
        try await TestStore.run(customers: 2, transactionsPerCustomer: 6) { store in
            let before = try await everything(store)
            _ = try await store.post("/simulator/advance", body: "{\"changes\":40}")
            let after = try await everything(store)
            let new = after.filter { before[$0.key] == nil }
            #expect(!new.isEmpty && new.values.contains { $0.status == 1 } && new.values.contains { $0.status == 5 })
            let changed = before.filter { after[$0.key]?.status != $0.value.status }
            #expect(!changed.isEmpty)
            for (originalId, old) in changed {
                let entry = try #require(after[originalId])
                #expect(entry.renewal.moment("signedDate") ?? 0 > old.renewal.moment("signedDate") ?? .max)
                #expect(entry.transaction.moment("signedDate") ?? 0 > old.transaction.moment("signedDate") ?? .max)
            }
        }
    }

    @Test func `a filter returns the subscriptions with one of its statuses and no empty group`() async throws {
        try await TestStore.run(customers: 30) { store in
            for filter in [["1"], ["2", "5"], ["3", "4"], ["5", "1", "1", "2", "3", "4"]] {
                for id in try store.ids {
                    let all = try await entries(store, of: id)
                    let matching = try await entries(store, of: id, filter)
                    #expect(
                        matching.map(\.originalId)
                            == all.filter { filter.contains(String($0.status ?? 0)) }.map(\.originalId)
                    )
                }
            }
        }
    }

    @Test(arguments: [["0"], ["6"], [""], ["1,2"], ["01"], ["+1"], ["active"], ["1", "7"]])
    func `a status outside 1 to 5 is refused`(filter: [String]) async throws {
        try await TestStore.run(customers: 1) { store in
            let path = TestStore.statuses(try #require(try store.ids.first))
            let answer = try await store.get(path, filter.map { ("status", $0) })
            #expect(answer.status == 400 && answer.errorCode == 4_000_031)
        }
    }

    @Test func `a customer without subscriptions has an empty list`() async throws {
        try await TestStore.run(customers: 40) { store in
            let subscribers = try await Set(
                store.world("transaction").values.compactMap(\.object)
                    .filter { $0["subscriptionGroupIdentifier"] != nil }
                    .compactMap { $0["appTransactionId"]?.string }
            )
            let others = try await store.appTransactionIds.subtracting(subscribers)
            #expect(!others.isEmpty)
            for id in others { #expect(try await entries(store, of: id).isEmpty) }
        }
        try await TestStore.run(customers: 1, transactionsPerCustomer: 0) { store in
            let id = try #require(try store.ids.first)
            #expect(try await entries(store, of: id).isEmpty)
        }
    }
}
