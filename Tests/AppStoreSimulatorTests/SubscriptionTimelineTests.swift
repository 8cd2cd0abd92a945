import AppStoreModel
import Testing

@testable import AppStoreSimulator

/// The states of subscriptions, and the notifications made from them.
@Suite struct SubscriptionTimelineTests {
    private static let anchor = ManualClock.anchor.rawValue

    /// A monthly subscription whose periods follow each other, the last one ending at `end`.
    private func chain(endingAt end: Int64, periods: Int, id: UInt64) -> [Transaction] {
        let start = end - Int64(periods) * Period.month.milliseconds
        return (0..<periods).map { number in
            var transaction = Transaction(
                id: id + UInt64(number) * 12,
                originalId: id,
                product: Product.subscriptions[0],
                purchaseDate: start + Int64(number) * Period.month.milliseconds,
                originalPurchaseDate: start
            )
            transaction.reason = number == 0 ? .purchase : .renewal
            transaction.expiresDate = transaction.purchaseDate + Period.month.milliseconds
            return transaction
        }
    }

    private func states(_ timeline: SubscriptionTimeline) -> [String] {
        timeline.events.map { event in
            let days = (event.date - Self.anchor) / Moment.day
            let name = event.subtype.map { event.type + "/" + $0 } ?? event.type
            return "\(days) \(name) \(event.renewal.state.status)"
        }
    }

    @Test func `a subscription in grace period goes on to billing retry and then expires`() {
        let end = Self.anchor - 100 * Moment.day
        #expect(
            states(SubscriptionTimeline(chain(endingAt: end, periods: 1, id: 12), anchor: Self.anchor)) == [
                "-130 SUBSCRIBED/INITIAL_BUY 1", "-100 DID_FAIL_TO_RENEW/GRACE_PERIOD 4", "-84 GRACE_PERIOD_EXPIRED 3",
                "-40 EXPIRED/BILLING_RETRY 2",
            ]
        )
        #expect(
            states(SubscriptionTimeline(chain(endingAt: end, periods: 2, id: 15), anchor: Self.anchor)) == [
                "-160 SUBSCRIBED/INITIAL_BUY 1", "-130 DID_RENEW 1", "-100 DID_FAIL_TO_RENEW 3",
                "-40 EXPIRED/BILLING_RETRY 2",
            ]
        )
        #expect(
            states(SubscriptionTimeline(chain(endingAt: end, periods: 1, id: 13), anchor: Self.anchor)) == [
                "-130 SUBSCRIBED/INITIAL_BUY 1", "-102 DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 1",
                "-100 EXPIRED/VOLUNTARY 2",
            ]
        )
    }

    @Test func `a revoked purchase ends the subscription, and an older one does not`() {
        var bought = chain(endingAt: Self.anchor - 100 * Moment.day, periods: 3, id: 12)
        bought[0].revocation = Transaction.Revocation(
            date: bought[1].purchaseDate + Moment.day,
            reason: 0,
            type: .full
        )
        bought[2].revocation = Transaction.Revocation(
            date: bought[2].purchaseDate + 5 * Moment.day,
            reason: 0,
            type: .full
        )
        let timeline = SubscriptionTimeline(bought, anchor: Self.anchor)
        #expect(
            states(timeline) == [
                "-190 SUBSCRIBED/INITIAL_BUY 1", "-160 DID_RENEW 1", "-159 CONSUMPTION_REQUEST 1", "-159 REFUND 1",
                "-130 DID_RENEW 1", "-125 CONSUMPTION_REQUEST 1", "-125 REFUND 5",
            ]
        )
        #expect(timeline.latest(at: bought[2].purchaseDate)?.renewal.transaction.id == bought[2].id)
        #expect(timeline.latest(at: bought[0].purchaseDate - 1) == nil)
    }

    @Test func `a subscription that is active at the anchor lapses at the end of its period`() {
        for (id, expected) in [(12, [1, 4, 3, 2]), (15, [1, 3, 3, 2]), (13, [1, 2, 2, 2])] as [(UInt64, [Int64])] {
            let end = Self.anchor + 10 * Moment.day
            let timeline = SubscriptionTimeline(chain(endingAt: end, periods: 1, id: id), anchor: Self.anchor)
            let moments = [end - 1, end, end + 16 * Moment.day, end + 60 * Moment.day]
            #expect(moments.map { timeline.latest(at: $0)?.renewal.state.status } == expected)
        }
    }

    @Test(arguments: [1, 2, 3, 7] as [UInt64], [AppStoreEnvironment.production, .sandbox])
    func `the newest notification about a subscription says what its status says`(
        seed: UInt64,
        environment: AppStoreEnvironment
    ) {
        var world = World(parameters: WorldTests.parameters(seed: seed, customers: 120, environment: environment))
        for _ in 0...1 {
            var newest: [UInt64: Notification] = [:]
            for notification in world.notifications {
                guard case .transaction(_, let renewal?, _) = notification.content else { continue }
                newest[renewal.transaction.originalId] = notification
            }
            var compared = 0
            for index in world.customers.indices {
                for event in world.subscriptions(ofCustomer: index, at: world.now) {
                    guard let notification = newest[event.renewal.transaction.originalId],
                        case .transaction(_, let renewal?, _) = notification.content
                    else { continue }
                    #expect(renewal == event.renewal, "\(notification.kind) of \(renewal.transaction.originalId)")
                    // Later when it is an example that only says again what is known, such as another REFUND.
                    #expect(notification.date >= event.date)
                    compared += 1
                }
            }
            #expect(compared > 30)
            // All in the same second, so that no period ends in between.
            _ = world.change(count: 300)
        }
    }

    @Test func `every status occurs in a world of 200 customers`() {
        for seed in 1...5 as ClosedRange<UInt64> {
            let world = World(parameters: WorldTests.parameters(seed: seed, customers: 200))
            let statuses = world.customers.indices.flatMap { index in
                world.subscriptions(ofCustomer: index, at: world.now).map(\.renewal.state.status)
            }
            #expect(Set(statuses) == [1, 2, 3, 4, 5], "seed \(seed)")
        }
    }
}
