import FoundationEssentials
import TestSupport
import Testing

/// Apple's own client and verifier against the simulator.
@Suite(.enabled(Comment(rawValue: AppleLibrary.missing)) { await AppleLibrary.isInstalled() })
struct AppleLibraryTests {
    /// A line of `GET /simulator/world`.
    private struct Line: Decodable {
        struct Payload: Decodable {
            let transactionIds: [String]?
        }
        let kind: String
        let key: String
        let payload: Payload
        let status: Int?
    }

    @Test
    func `Apple's Python library decodes and verifies the answers of every endpoint, which contain the whole world`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let options = SimulatedStore.Options(customers: 30, transactionsPerCustomer: 20)
            try await SimulatedStore.serving(options, in: directory + "/store") { store in
                let found = try await AppleLibrary.findings(in: store.directory)

                let lines = try await store.world().split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
                let world = Dictionary(grouping: lines, by: \.kind)
                    .mapValues { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0) }) }
                let statuses = try #require(world["subscriptionStatus"]).mapValues(\.status)
                #expect(found.statuses.mapValues(Optional.some) == statuses && statuses.count > 20)
                #expect(Set(found.appTransactions.values) == Set(try #require(world["appTransaction"]).keys))
                let orders = try #require(world["order"]).mapValues(\.payload.transactionIds)
                #expect(found.orders.allSatisfy { $0.value == orders[$0.key] } && found.orders.count > 20)

                let transactions = try #require(world["transaction"])
                let listed = found.historyV1.values.flatMap(\.self)
                #expect(Set(listed).count == listed.count && Set(listed).isSubset(of: transactions.keys))
                // Finished consumables are left out, and nothing else.
                #expect(listed.count < transactions.count && listed.count > transactions.count / 2)
                let refunds = try #require(world["refund"])
                #expect(Set(found.refundsV1.values.flatMap(\.self)) == Set(refunds.keys) && !refunds.isEmpty)
            }
        }
    }

    @Test func `Apple's Python library sends every request that changes the world, and the world has its effect`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let options = SimulatedStore.Options(customers: 30, transactionsPerCustomer: 6)
            try await SimulatedStore.serving(options, in: directory + "/store") { store in
                let accepted = try await AppleLibrary.actions(in: store.directory)
                #expect(accepted.extended > 3 && accepted.extendedForAll > 0 && accepted.tokens > 10)
                #expect(accepted.consumption.v2 > 10 && accepted.consumption.v1 > 10)
                #expect(accepted.testNotifications == 1)
                #expect(accepted.messages == 1 && accepted.performanceTests == 1)
            }
        }
    }
}
