import AppStoreModel
import StrictJSON
import Synchronization

/// The world behind a lock: many requests read it, and one at a time changes it.
///
/// It contains no signatures. An answer signs its records without the lock.
final class ServedWorld: Sendable {
    let app: SimulatedApp
    private let state: Mutex<State>
    /// Makes a step durable.
    private let record: Recorder
    /// The notifications that the simulator posts; `nil` when it posts none.
    private let deliveries: DeliveryLog?

    typealias Recorder = @Sendable (WorldStep) throws(SimulatorError) -> Void

    private struct State {
        var world: World
        /// For each changed transaction, after which moment its state is signed, in milliseconds since 1970.
        ///
        /// All others are signed after the world's anchor.
        var signedAfter: [UInt64: Int64] = [:]
        /// For each customer, the indices of the notifications.
        var places: [Int: [Int]]

        /// The transactions of a customer in the order of modification.
        ///
        /// They are made for each request, so that a world of ten million transactions is in memory once.
        func transactions(of index: Int) -> [StoredTransaction] {
            let customer = world.customers[index]
            return customer.transactions
                .map {
                    StoredTransaction(
                        $0,
                        of: customer.identity,
                        signedAfter: signedAfter[$0.id] ?? world.parameters.anchor.rawValue
                    )
                }
                .sorted { $0.cursorPosition < $1.cursorPosition }
        }

        func subscriptions(of customer: Int, at now: Int64) -> [SubscriptionStatus] {
            let stored = transactions(of: customer)
            return world.subscriptions(ofCustomer: customer, at: max(now, world.now)).compactMap { event in
                let transaction = event.renewal.transaction
                guard let latest = stored.first(where: { $0.transaction.id == transaction.id }) else { return nil }
                // Every change of a subscription changes one of its transactions.
                let signed = stored.filter { $0.transaction.originalId == transaction.originalId }
                    .map { $0.signedDate(at: now) }
                return SubscriptionStatus(
                    transaction: latest,
                    renewal: event.renewal,
                    since: max(event.date, transaction.actionDate ?? .min),
                    signedDate: signed.max() ?? now
                )
            }
        }

        /// Makes changes of the world visible.
        ///
        /// - `moment`: The changed states are signed later than this, in milliseconds since 1970.
        mutating func include(_ changes: [WorldChange], signedAfter moment: Int64) {
            for change in changes {
                guard let index = change.customer else { continue }
                if let place = change.place { places[index, default: []].append(place) }
                guard let position = change.position else { continue }
                signedAfter[world.customers[index].transactions[position].id] = moment
            }
        }
    }

    /// - Parameters:
    ///   - world: The world as it was generated.
    ///   - steps: The steps that were made since the world was generated.
    ///   - deliveries: Receives the notifications of later steps; `nil` when the simulator posts none.
    ///   - record: Makes a later step durable. It is called before another request sees the step.
    /// - Throws: ``SimulatorError`` when the attempts of an earlier process cannot be read.
    init(
        _ world: World,
        steps: [WorldStep],
        deliveries: DeliveryLog? = nil,
        record: @escaping Recorder
    ) throws(SimulatorError) {
        self.record = record
        self.deliveries = deliveries
        app = world.app
        let anchor = world.parameters.anchor.rawValue
        var places: [Int: [Int]] = [:]
        for (place, notification) in world.notifications.enumerated() {
            if let customer = notification.customer { places[customer.index, default: []].append(place) }
        }
        var state = State(world: world, places: places)
        for step in steps { state.include(state.world.make(step), signedAfter: anchor) }
        try deliveries?.begin(with: state.world.notifications)
        self.state = Mutex(state)
    }

    /// The customer who owns a transaction ID or an app transaction ID, with all transactions in the order of modification.
    func history(of id: TransactionID) -> (customer: Int, transactions: [StoredTransaction])? {
        state.withLock { state in
            (state.world.customer(owning: id) ?? state.world.customer(ofAppTransaction: id))
                .map { ($0, state.transactions(of: $0)) }
        }
    }

    /// The groups of the customer who owns a transaction ID or an app transaction ID; `nil` when no customer owns it.
    func groups(of id: TransactionID) -> [CustomerGroup]? {
        state.withLock { state in
            (state.world.customer(owning: id) ?? state.world.customer(ofAppTransaction: id))
                .map { state.world.groups(of: $0) }
        }
    }

    /// The group with an ID; `nil` when there is none.
    func group(_ id: String) -> CustomerGroup? { state.withLock { $0.world.group(id) } }

    /// The number of seats of a subscription, and the claims that have one.
    ///
    /// - `now`: Milliseconds since 1970.
    ///
    /// Throws the error with which Apple refuses the request.
    func seats(of id: TransactionID, at now: Int64) throws(APIError) -> (total: Int64, claims: [SeatClaim]) {
        try state.withLock { state throws(APIError) in
            let subscription = try state.world.seatSubscription(id, at: now)
            return (subscription.quantity, state.world.seatClaims[subscription.originalId]?.assigned ?? [])
        }
    }

    /// Whether a customer's app transaction has the ID.
    func isAppTransaction(_ id: TransactionID) -> Bool {
        state.withLock { $0.world.customer(ofAppTransaction: id) != nil }
    }

    /// The app transaction of a customer; `nil` for one who has bought nothing.
    func appTransaction(of customer: Int) -> SimulatedAppTransaction? {
        state.withLock { SimulatedAppTransaction(of: $0.world.customers[customer], seed: $0.world.parameters.seed) }
    }

    /// The subscriptions of a customer as they are at `now`, in milliseconds since 1970, in the order of their first purchases.
    ///
    /// If the world's own time is later than `now`, they are as at the world's time.
    func subscriptions(of customer: Int, at now: Int64) -> [SubscriptionStatus] {
        state.withLock { $0.subscriptions(of: customer, at: now) }
    }

    /// The transactions of an order; `nil` when there is no such order.
    func order(_ id: String) -> [StoredTransaction]? {
        state.withLock { state in
            guard let (customer, order) = state.world.order(id) else { return nil }
            return state.transactions(of: customer)
                .filter { order.transactionIds.contains($0.transaction.id) }
                .sorted { $0.transaction.id < $1.transaction.id }
        }
    }

    /// The notifications of one customer, or of the whole app, each with its index in the world.
    ///
    /// The index also counts notifications that the history does not list yet. A late one therefore does not move others, and
    /// a cursor means the same before and after it is listed.
    ///
    /// - `place`: The first index to consider.
    /// - `limit`: The most notifications to return.
    func notifications(
        of customer: Int?,
        from place: Int,
        limit: Int,
        where matches: (Notification) -> Bool
    ) -> [(place: Int, notification: Notification)] {
        let (all, places) = state.withLock { state in
            (state.world.notifications, customer.map { state.places[$0] ?? [] })
        }
        let candidates: any Sequence<Int> =
            if let places {
                places.drop { $0 < place }
            } else {
                min(place, all.count)..<all.count
            }
        var found: [(place: Int, notification: Notification)] = []
        for candidate in candidates {
            let notification = shown(all[candidate])
            guard matches(notification) else { continue }
            found.append((candidate, notification))
            if found.count == limit { break }
        }
        return found
    }

    /// A notification with the attempts that the simulator has made, if it posts it.
    private func shown(_ notification: Notification) -> Notification {
        deliveries?.shown(notification) ?? notification
    }

    func customer(owning id: TransactionID) -> Int? {
        state.withLock { $0.world.customer(owning: id) }
    }

    /// The index of the first notification of `date` or later.
    func firstPlace(from date: Int64) -> Int {
        let all = state.withLock { $0.world.notifications }
        var range = 0..<all.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = all[middle].date < date ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Applies a step and returns its changes.
    ///
    /// Every later request sees all of them.
    ///
    /// - `now`: The clock, in milliseconds since 1970. The changed states are signed later than this moment.
    ///
    /// Throws ``SimulatorError`` when the step cannot be made durable.
    func advance(by step: WorldStep, at now: Int64) throws(SimulatorError) -> [WorldChange] {
        try state.withLock { state throws(SimulatorError) in
            let changes = state.world.make(step)
            state.include(changes, signedAfter: now)
            try record(step)
            deliveries?.add(changes.compactMap(\.notification))
            return changes
        }
    }

    /// Applies a request of the app's server and returns its answer.
    ///
    /// Every later request sees its changes, and so does a restarted simulator.
    ///
    /// - `repeatRefusal`: The error for a request that was applied before; `nil` when it is answered as the first one was.
    func perform(
        _ action: Route.Action,
        for request: ActionRequest,
        repeatRefusal: APIError?
    ) throws(APIError) -> SimulatedAnswer {
        try state.withLock { state throws(APIError) in
            let result = try action(request, &state.world)
            state.include(result.changes, signedAfter: request.date)
            if result.isRecorded {
                do throws(SimulatorError) { try record(.action(request)) } catch { throw .internalError }
            }
            deliveries?.add(result.changes.compactMap(\.notification))
            if result.isRepeat, let repeatRefusal { throw repeatRefusal }
            if let refusal = result.refusal { throw refusal }
            return result.answer
        }
    }

    /// The requests of the app's server that changed the world, and those to extend all subscriptions.
    var actions: (entries: [ActionHistory.Entry], massExtensions: [MassExtension]) {
        state.withLock { ($0.world.actions.entries, $0.world.massExtensions) }
    }

    /// The notification for which a token of a test notification stands.
    func testNotification(_ token: String) -> Notification? {
        state.withLock { state in state.world.testNotifications[token].map { state.world.notifications[$0] } }
            .map(shown)
    }

    /// A report of external purchases that was taken; `nil` when there is none with the ID.
    func externalPurchaseReport(_ id: String) -> JSONObject? {
        state.withLock { $0.world.externalPurchases.reports[id] }
    }

    /// All transactions and notifications, including notifications that the history does not list yet.
    var everything: (transactions: [[StoredTransaction]], notifications: [Notification]) {
        let (transactions, notifications) = state.withLock { state in
            (state.world.customers.indices.map { state.transactions(of: $0) }, state.world.notifications)
        }
        return (transactions, notifications.map(shown))
    }

    /// All subscriptions as they are at `now`, in milliseconds since 1970.
    func subscriptions(at now: Int64) -> [SubscriptionStatus] {
        state.withLock { state in
            state.world.customers.indices.flatMap { state.subscriptions(of: $0, at: now) }
        }
    }

    var appTransactions: [SimulatedAppTransaction] {
        state.withLock { state in
            state.world.customers.compactMap { SimulatedAppTransaction(of: $0, seed: state.world.parameters.seed) }
        }
    }

    var orders: [Order] {
        state.withLock { state in state.world.customers.indices.flatMap { state.world.orders(ofCustomer: $0) } }
    }
}
