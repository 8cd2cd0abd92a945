import AppStoreModel

/// All data of the simulated store: customers with their purchases, and notifications.
///
/// A value type. The same changes in the same order always give the same world.
struct World: Sendable {
    let parameters: WorldParameters
    let app: SimulatedApp
    let ids: IDSpace
    var customers: [Customer]
    /// Sorted by date, then UUID.
    var notifications: [Notification]
    /// The number of changes since the world was generated.
    var changeCount = 0
    /// The moment of the latest change, or the anchor, in milliseconds since 1970.
    var now: Int64

    init(parameters: WorldParameters) {
        self.parameters = parameters
        app = SimulatedApp(environment: parameters.environment, seed: parameters.seed)
        ids = IDSpace(environment: parameters.environment)
        now = parameters.anchor.rawValue
        let sizes = HistorySizes(mean: parameters.transactionsPerCustomer)
            .sizes(customers: parameters.customers, seed: parameters.seed)
        customers = sizes.enumerated().map { index, size in
            var builder = CustomerBuilder(index: index, parameters: parameters)
            builder.fill(to: size)
            return builder.customer
        }
        var builder = NotificationBuilder(parameters: parameters, app: app)
        customers.forEach { builder.add(from: $0) }
        builder.complete(with: customers)
        notifications = builder.notifications.sorted { ($0.date, $0.uuid) < ($1.date, $1.uuid) }
        for place in notifications.indices {
            notifications[place].delay = parameters.delay(ofNotification: place)
        }
    }

    /// The customer who owns the ID, or `nil` when no customer owns it.
    func customer(owning id: TransactionID) -> Int? {
        guard let place = ids.place(of: id), customers.indices.contains(place.customer),
            place.position < customers[place.customer].idsInUse
        else { return nil }
        return place.customer
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
