import AppStoreModel
import Foundation
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// What happens to subscriptions with changed prices: communicated, accepted, renewed or expired.
struct PriceChangeRenewalTests {
    /// The number of subscribers whose price rises enough to need consent, rises by less, and falls.
    private static let (asked, told, falling) = (40, 5, 5)
    private static let prices = ["asked": 25_980, "told": 13_990, "falling": 9_990] as [String: Int64]

    /// A store whose subscribers all have the same item of 12.99 US dollars.
    private func configuration() -> SimulatorConfiguration {
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = 3
        configuration.advancedCommerceSubscribers = Self.asked + Self.told + Self.falling
        configuration.anchor = "2026-10-01T00:00:00Z"
        configuration.rateLimit = .none
        return configuration
    }

    /// The subscribers, each with its new price.
    private func subscribers(_ store: TestStore) throws -> [(id: String, change: String)] {
        let changes =
            Array(repeating: "asked", count: Self.asked) + Array(repeating: "told", count: Self.told)
            + Array(repeating: "falling", count: Self.falling)
        return Array(zip(try store.ids.dropFirst(3), changes))
    }

    private func change(_ store: TestStore, _ id: String, to price: Int64, number: Int) async throws -> ServerAnswer {
        let reference = "00000000-0000-5000-8000-" + String(1_000_000_000_000 + number).dropFirst()
        return try await store.post(
            "/advancedCommerce/v1/subscription/changePrice/\(id)",
            body: """
                {"requestInfo": {"requestReferenceId": "\(reference)"}, "items": [{"SKU": "shelf-1", "price": \(price)}]}
                """
        )
    }

    private func renewals(_ store: TestStore, _ count: Int) async throws {
        let answer = try await store.post("/simulator/advance", body: "{\"renewals\":\(count)}")
        try #require(answer.status == 200)
        store.clock.advance(by: .seconds(1))
    }

    /// The types and subtypes of a subscription's notifications since the test's clock began, in order.
    private func notifications(_ store: TestStore) async throws -> [String: [String]] {
        var found: [String: [(date: Int64, name: String)]] = [:]
        for case let notification? in try await store.world("notification").values.map(\.object) {
            guard let date = notification.moment("signedDate"), date > ManualClock.anchor.rawValue,
                let signed = notification["data"]?.object?["signedTransactionInfo"]?.string,
                let id = try store.payload(signed)["originalTransactionId"]?.string
            else { continue }
            let words = [notification["notificationType"]?.string, notification["subtype"]?.string]
            found[id, default: []].append((date, words.compactMap(\.self).joined(separator: "/")))
        }
        return found.mapValues { $0.sorted { ($0.date, $0.name) < ($1.date, $1.name) }.map(\.name) }
    }

    /// The paths that a subscription can take after a price change.
    private static let paths: [String: Set<[String]>] = [
        "asked": [
            ["PRICE_CHANGE", "PRICE_INCREASE/ACCEPTED", "DID_RENEW"],
            ["PRICE_CHANGE", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY"],
            ["PRICE_CHANGE", "PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"],
        ],
        "told": [["PRICE_CHANGE", "PRICE_INCREASE/ACCEPTED", "DID_RENEW"]],
        "falling": [["PRICE_CHANGE", "DID_RENEW"]],
    ]

    @Test func `a changed price is renewed, or the subscription expires, and a restarted simulator has the same world`()
        async throws
    {
        let configuration = configuration()
        defer { try? FileManager.default.removeItem(atPath: configuration.directory) }  // Only cleans up.
        let clock = ManualClock()
        var transactions: [String: JSONValue] = [:]
        var statuses: [String: JSONObject] = [:]
        try await TestStore.run(configuration, clock: clock) { store in
            let subscribers = try subscribers(store)
            for (number, subscriber) in subscribers.enumerated() {
                let price = try #require(Self.prices[subscriber.change])
                #expect(try await change(store, subscriber.id, to: price, number: number).status == 200)
                store.clock.advance(by: .seconds(1))
            }
            // Before the renewal Apple tells the customers, and they answer.
            try await renewals(store, 1)
            let first = try await store.listed("subscriptionStatus")
            let consents = Dictionary(grouping: subscribers.filter { $0.change == "asked" }) {
                first[$0.id]?["payload"]?.object?.moment("priceIncreaseStatus")
            }
            #expect(consents[1]?.count ?? 0 > 20 && consents[0]?.isEmpty == false)
            let renewed = try await notifications(store).values.count { $0.contains { $0.hasPrefix("DID_RENEW") } }
            let expired = try await notifications(store).values.count { $0.contains { $0.hasPrefix("EXPIRED") } }
            #expect(renewed + expired == 1)

            try await renewals(store, 100)
            let seen = try await notifications(store)
            for (id, change) in subscribers {
                #expect(Self.paths[change]?.contains(seen[id] ?? []) == true, "\(change): \(seen[id] ?? [])")
            }
            let ways = Set(subscribers.compactMap { $0.change == "asked" ? seen[$0.id] : nil })
            #expect(ways.count == 3, "\(ways)")

            transactions = try await store.world("transaction")
            statuses = try await store.listed("subscriptionStatus")
            for (id, change) in subscribers {
                let status = try #require(statuses[id])
                let renewal = try #require(status["payload"]?.object)
                let last = try #require(
                    status["transactionId"]?.string.flatMap { transactions[$0]?.object }
                )
                let before = try #require(transactions[id]?.object)
                switch seen[id]?.last {
                case "DID_RENEW":
                    let item = last["advancedCommerceInfo"]?.object?["items"]?.array?.first?.object
                    #expect(status.moment("status") == 1 && last["transactionReason"]?.string == "RENEWAL")
                    #expect(last.moment("price") == Self.prices[change] && item?.moment("price") == Self.prices[change])
                    #expect(last.moment("purchaseDate") == before.moment("expiresDate"))
                    #expect(renewal["priceIncreaseStatus"] == nil)
                case "EXPIRED/PRICE_INCREASE":
                    #expect(status.moment("status") == 2 && renewal.moment("expirationIntent") == 3)
                    #expect(renewal.moment("autoRenewStatus") == 0 && last.moment("price") == 12_990)
                default:
                    #expect(status.moment("status") == 2 && renewal.moment("expirationIntent") == 1)
                }
            }
            // Nothing is left to renew.
            try await renewals(store, 100)
            #expect(try await store.world("transaction") == transactions)
        }
        try await TestStore.run(configuration, clock: clock) { store in
            #expect(try await store.world("transaction") == transactions)
            #expect(try await store.listed("subscriptionStatus") == statuses)
            // The second increase within a year needs consent, however small it is.
            let told = try #require(try subscribers(store).first { $0.change == "told" })
            #expect(try await change(store, told.id, to: 14_000, number: 900).status == 200)
            store.clock.advance(by: .seconds(1))
            let renewal = try await store.listed("subscriptionStatus")[told.id]?["payload"]?.object
            let item = renewal?["advancedCommerceInfo"]?.object?["items"]?.array?.first?.object
            #expect(item?["priceIncreaseInfo"]?.object?["status"]?.string == "PENDING")
        }
    }
}
