import AppStoreModel
import Synchronization

/// The world, ready to be read by many requests and changed by one.
///
/// Nothing in it is signed: an answer signs what it shows, when no lock is held.
final class ServedWorld: Sendable {
    let app: SimulatedApp
    private let state: Mutex<State>

    private struct State {
        var world: World
        /// Of each customer, in the order of modification.
        var transactions: [[StoredTransaction]]
        /// Where each customer's notifications are.
        var places: [Int: [Int]]
    }

    init(_ world: World) {
        app = world.app
        let anchor = world.parameters.anchor.rawValue
        let customers = world.customers.map { customer in
            customer.transactions
                .map { StoredTransaction($0, of: customer.identity, notBefore: anchor) }
                .sorted { $0.position < $1.position }
        }
        var places: [Int: [Int]] = [:]
        for (place, notification) in world.notifications.enumerated() {
            if let customer = notification.customer { places[customer.index, default: []].append(place) }
        }
        state = Mutex(State(world: world, transactions: customers, places: places))
    }

    /// The customer who owns the ID, with their transactions in the order of modification.
    func history(of id: TransactionID) -> (customer: Int, transactions: [StoredTransaction])? {
        state.withLock { state in
            state.world.customer(owning: id).map { ($0, state.transactions[$0]) }
        }
    }

    /// The notifications of one customer, or of the whole app, each with its place in the order.
    ///
    /// A place counts all notifications of the world, also those that the history does not list yet: a late one gets no place
    /// of another, so a cursor means the same before and after it enters the history.
    ///
    /// - `place`: Where to begin looking.
    /// - `limit`: How many to return at most.
    func notifications(
        of customer: Int?,
        from place: Int,
        limit: Int,
        where admits: (Notification) -> Bool
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
        for candidate in candidates where admits(all[candidate]) {
            found.append((candidate, all[candidate]))
            if found.count == limit { break }
        }
        return found
    }

    func customer(owning id: TransactionID) -> Int? {
        state.withLock { $0.world.customer(owning: id) }
    }

    /// Where the notifications of `date` and later begin.
    func firstPlace(from date: Int64) -> Int {
        let all = state.withLock { $0.world.notifications }
        var range = 0..<all.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = all[middle].date < date ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Makes changes; every request that follows sees all of them.
    ///
    /// - `now`: The clock; what answers have signed until then is older than the changed states.
    func advance(by step: WorldStep, at now: Int64) -> [WorldChange] {
        state.withLock { state in
            let changes = state.world.make(step)
            for change in changes {
                let customer = state.world.customers[change.customer]
                let changed = StoredTransaction(
                    customer.transactions[change.position],
                    of: customer.identity,
                    notBefore: now
                )
                state.transactions[change.customer].removeAll { $0.transaction.id == changed.transaction.id }
                state.transactions[change.customer].append(changed)
                state.places[change.customer, default: []].append(change.place)
            }
            return changes
        }
    }

    /// All there is, also the notifications that the history does not list yet.
    var everything: (transactions: [[StoredTransaction]], notifications: [Notification]) {
        state.withLock { ($0.transactions, $0.world.notifications) }
    }
}

extension CursorPosition: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        (left.date, left.number) < (right.date, right.number)
    }
}
