import AppStoreModel
import Testing

@testable import AppStoreSimulator

@Suite struct WorldTests {
    static func parameters(
        seed: UInt64 = 7,
        customers: Int = 100,
        mean: Int = 10,
        environment: AppStoreEnvironment = .production
    ) -> WorldParameters {
        WorldParameters(
            seed: seed,
            customers: customers,
            transactionsPerCustomer: mean,
            environment: environment,
            anchor: ManualClock.anchor
        )
    }

    /// Every payload of a world, with a placeholder where a signature would be.
    static func payloads(of world: World) -> [[UInt8]] {
        let anchor = world.parameters.anchor.rawValue
        let transactions = world.customers.flatMap { customer in
            customer.transactions.map {
                $0.payload(
                    of: customer.identity,
                    in: world.app,
                    signedDate: anchor,
                    bundleId: world.app.bundleId
                )
            }
        }
        let notifications = world.notifications.map {
            $0.payload(in: world.app, bundleId: world.app.bundleId) { String(decoding: $0, as: UTF8.self) }
        }
        return transactions + notifications
    }

    @Test(arguments: [AppStoreEnvironment.production, .sandbox])
    func `the same parameters make the same world byte for byte`(_ environment: AppStoreEnvironment) {
        let parameters = Self.parameters(environment: environment)
        var one = World(parameters: parameters)
        var other = World(parameters: parameters)
        #expect(Self.payloads(of: one) == Self.payloads(of: other))
        _ = one.change(days: 3)
        _ = other.change(days: 3)
        #expect(Self.payloads(of: one) == Self.payloads(of: other))
    }

    @Test func `a fixed share of notifications is late, by 66 to 180 minutes, and the seed determines which`() {
        var parameters = Self.parameters(customers: 2_000)
        #expect(World(parameters: parameters).notifications.allSatisfy { $0.delay == 0 })
        parameters.lateNotifications = 200
        let world = World(parameters: parameters)
        let late = world.notifications.map(\.delay)
        let share = Double(late.count { $0 > 0 }) * 200 / Double(late.count)
        #expect(late.count > 5_000 && share > 0.6 && share < 1.4, "\(share) of \(late.count)")
        #expect(late.allSatisfy { $0 == 0 || (66 * Moment.minute...180 * Moment.minute).contains($0) })
        // The moment does not change them; another seed does.
        parameters.anchor = parameters.anchor + .seconds(12_345)
        #expect(World(parameters: parameters).notifications.map(\.delay) == late)
        parameters.seed += 1
        #expect(World(parameters: parameters).notifications.map(\.delay) != late)
    }

    @Test func `another seed makes another world`() {
        let one = World(parameters: Self.parameters(seed: 1))
        let other = World(parameters: Self.parameters(seed: 2))
        #expect(Self.payloads(of: one) != Self.payloads(of: other))
    }

    @Test(arguments: [0, 1, 3, 10, 60, 200])
    func `sizes keep the mean and the limit`(mean: Int) {
        for customers in [1, 7, 33] {
            #expect(HistorySizes(mean: mean).sizes(customers: customers, seed: 5).reduce(0, +) == customers * mean)
        }
        let sizes = HistorySizes(mean: mean).sizes(customers: 200, seed: 5)
        #expect(sizes.reduce(0, +) == 200 * mean)
        #expect(sizes.allSatisfy { (0...200).contains($0) })
        if mean == 10 { #expect(sizes.contains(0) && sizes.max() ?? 0 > 40) }
    }

    @Test func `the ID of a transaction identifies its customer, and no other ID does`() throws {
        let world = World(parameters: Self.parameters(customers: 40))
        for customer in world.customers {
            for transaction in customer.transactions {
                let id = try #require(TransactionID(String(transaction.id)))
                #expect(world.customer(owning: id) == customer.identity.index)
            }
            let beyond = world.ids.id(customer: customer.identity.index, position: customer.idsInUse)
            #expect(world.customer(owning: try #require(TransactionID(String(beyond)))) == nil)
        }
        for stranger in ["1", "0430000000000000", "430000000000001", "99999999999999999999"] {
            #expect(world.customer(owning: try #require(TransactionID(stranger))) == nil)
        }
    }

    @Test func `subscription chains are without contradiction`() {
        let world = World(parameters: Self.parameters(customers: 200))
        for customer in world.customers {
            let chains = Dictionary(grouping: customer.transactions, by: \.originalId)
            for (original, chain) in chains {
                #expect(chain.first?.id == original)
                #expect(chain.first?.reason == .purchase)
                for (earlier, later) in zip(chain, chain.dropFirst()) {
                    #expect(later.originalPurchaseDate == chain.first?.purchaseDate)
                    if later.reason == .renewal { #expect(later.purchaseDate == earlier.expiresDate) }
                    if let upgraded = earlier.upgradedDate {
                        #expect(later.purchaseDate == upgraded && later.product.id == earlier.product.upgrade)
                    } else {
                        #expect(later.purchaseDate >= earlier.expiresDate ?? .max)
                    }
                }
            }
            #expect(customer.transactions.allSatisfy { $0.modifiedDate < ManualClock.anchor.rawValue })
            for transaction in customer.transactions {
                guard let revocation = transaction.revocation else { continue }
                #expect(revocation.date > transaction.purchaseDate)
                #expect((revocation.type == .family) == transaction.isFamilyShared)
                #expect(revocation.type != .full || revocation.percentage == 100_000)
            }
        }
    }

    @Test(arguments: [AppStoreEnvironment.production, .sandbox])
    func `notifications are recent enough to be served and agree with the transactions`(
        _ environment: AppStoreEnvironment
    ) {
        let world = World(parameters: Self.parameters(environment: environment))
        let reach = (ManualClock.anchor - environment.notificationReach).rawValue..<ManualClock.anchor.rawValue
        let known = Dictionary(
            uniqueKeysWithValues: world.customers.flatMap(\.transactions).map { ($0.id, $0) }
        )
        #expect(Set(world.notifications.map(\.uuid)).count == world.notifications.count)
        for notification in world.notifications {
            #expect(reach.contains(notification.date))
            guard case .transaction(let transaction, _, _) = notification.content else { continue }
            #expect(known[transaction.id]?.known(at: notification.date) == transaction)
            #expect(transaction.modifiedDate <= notification.date)
        }
    }

    @Test func `failed deliveries are tried again after 1, 12, 24, 48 and 72 hours, whenever the world is looked at`()
        throws
    {
        let world = World(parameters: Self.parameters(customers: 300))
        let pauses = [1, 12, 24, 48, 72].map { $0 * Moment.hour }
        var longest = 0
        for attempts in world.notifications.map(\.attempts) {
            #expect(!attempts.isEmpty)
            for (index, pair) in zip(attempts, attempts.dropFirst()).enumerated() {
                #expect(pair.1.date - pair.0.date == pauses[index])
                #expect(pair.0.result != "SUCCESS")
            }
            longest = max(longest, attempts.count)
        }
        #expect(longest == 6)
        #expect(world.notifications.contains { !$0.isDelivered(by: .max) })
        let sandbox = World(parameters: Self.parameters(environment: .sandbox))
        #expect(sandbox.notifications.allSatisfy { $0.attempts.count == 1 })
    }
}
