import AppStoreModel

/// All data of the simulated store: customers with their purchases, and notifications.
///
/// A value type. The same changes in the same order always give the same world.
struct World: Sendable {
    let parameters: WorldParameters
    let app: SimulatedApp
    let ids: IDSpace
    let orderIds: OrderIDs
    /// The states that examples of notifications announce, by the original ID of their subscriptions.
    let examples: [UInt64: [SubscriptionTimeline.Example]]
    var customers: [Customer]
    /// Sorted by date, then UUID.
    var notifications: [Notification]
    /// The number of changes since the world was generated.
    var changeCount = 0
    /// What the app's server has requested.
    var actions = ActionHistory()
    /// In the order of their requests.
    var massExtensions: [MassExtension] = []
    /// Those that Apple has not decided, the oldest first.
    var refundRequests: [SimulatedRefundRequest] = []
    /// The last body that was sent about a transaction, by transaction ID.
    var consumptionAnswers: [UInt64: [UInt8]] = [:]
    /// The `requestReferenceId` of every Advanced Commerce request that was applied.
    var commerceRequests: Set<String> = []
    /// The refunds that the app's server has requested and Apple has not decided, the oldest first.
    var commerceRefunds: [CommerceRefund] = []
    /// The price increases that customers have not answered, the oldest first.
    var openPriceIncreases: [OpenPriceIncrease] = []
    /// The tokens of external purchases, and what was reported of them.
    var externalPurchases = ExternalPurchases()
    var retention = RetentionStore()
    /// By the original transaction ID of their subscriptions.
    var seatClaims: [UInt64: SeatClaims] = [:]
    /// The index of each test notification in ``notifications``, by token.
    var testNotifications: [String: Int] = [:]
    /// The moment of the latest change, or the anchor, in milliseconds since 1970.
    var now: Int64
    /// Until when the ends of periods have had their consequences, in milliseconds since 1970.
    var passedUntil: Int64

    init(parameters: WorldParameters) {
        self.parameters = parameters
        app = SimulatedApp(parameters)
        ids = IDSpace(parameters)
        orderIds = OrderIDs(seed: parameters.seed)
        now = parameters.anchor.rawValue
        passedUntil = now
        let sizes = HistorySizes(mean: parameters.transactionsPerCustomer)
            .sizes(customers: parameters.customers, seed: parameters.seed)
        customers = sizes.enumerated().map { index, size in
            var builder = CustomerBuilder(index: index, parameters: parameters)
            builder.fill(to: size)
            return builder.customer
        }
        let subscribers = (0..<parameters.advancedCommerceSubscribers).map { number in
            var builder = CustomerBuilder(
                index: sizes.count + number,
                parameters: parameters,
                storefront: Storefront.unitedStates
            )
            builder.addAdvancedSubscriber()
            return builder.customer
        }
        let seatSubscribers = (0..<parameters.seatSubscribers).map { number in
            var builder = CustomerBuilder(index: sizes.count + subscribers.count + number, parameters: parameters)
            builder.addSeatSubscriber(isDeveloperManaged: number % 4 < 3)
            return builder.customer
        }
        var builder = NotificationBuilder(parameters: parameters, app: app)
        (customers + subscribers + seatSubscribers).forEach { builder.add(from: $0) }
        // No example announces another state of a subscriber, so that a price change meets all of them in the same state.
        builder.complete(with: customers)
        customers += subscribers + seatSubscribers
        examples = builder.examples
        notifications = builder.notifications.sorted { ($0.date, $0.uuid) < ($1.date, $1.uuid) }
        for place in notifications.indices {
            notifications[place].delay = parameters.delay(ofNotification: place)
            if case .externalToken(let token) = notifications[place].content { externalPurchases.add(token) }
        }
    }

    /// The customer who owns the ID, or `nil` when no customer owns it.
    func customer(owning id: TransactionID) -> Int? {
        guard let place = ids.place(of: id), customers.indices.contains(place.customer),
            place.position < customers[place.customer].idsInUse
        else { return nil }
        return place.customer
    }

    /// The customer whose app transaction has the ID, or `nil`.
    ///
    /// Customers who have bought nothing have none.
    func customer(ofAppTransaction id: TransactionID) -> Int? {
        guard let index = CustomerIdentity.index(ofAppTransaction: id.text), customers.indices.contains(index),
            customers[index].identity.appTransactionId == id.text, !customers[index].transactions.isEmpty
        else { return nil }
        return index
    }

    /// The latest event of each of a customer's subscriptions at a moment, in milliseconds since 1970.
    func subscriptions(ofCustomer index: Int, at moment: Int64) -> [SubscriptionTimeline.Event] {
        customers[index].subscriptions.compactMap { timeline(of: $0).latest(at: moment) }
    }

    /// - `chain`: All transactions of one subscription.
    func timeline(of chain: [Transaction]) -> SubscriptionTimeline {
        SubscriptionTimeline(
            chain,
            anchor: parameters.anchor.rawValue,
            examples: chain.first.flatMap { examples[$0.originalId] } ?? []
        )
    }
}

extension WorldParameters {
    /// How much later than its date the history lists the notification with this index in the world, in milliseconds.
    ///
    /// It depends only on the seed and the index, so it never changes.
    func delay(ofNotification place: Int) -> Int64 {
        guard lateNotifications > 0 else { return 0 }
        var random = SplitMix64(seed: seed, path: 9, UInt64(place))
        guard random.below(lateNotifications) == 0 else { return 0 }
        return random.within(66 * Moment.minute..<(180 * Moment.minute + 1))
    }
}
