import AppStoreModel
import Synchronization
import Workers

/// The world with everything in it signed, ready to be read by many requests and changed by one.
final class SignedWorld: Sendable {
    let app: SimulatedApp
    let sealer: Sealer
    private let state: Mutex<State>

    private struct State {
        var world: World
        /// Of each customer, in the order of modification.
        var transactions: [[SignedTransaction]]
        /// In the order of their dates.
        var notifications: [SignedNotification]
        /// Where each customer's notifications are.
        var places: [Int: [Int]]
    }

    /// Signs the whole world on `width` threads.
    init(_ world: World, sealer: Sealer, width: Int) async throws {
        app = world.app
        self.sealer = sealer
        let app = app
        let anchor = world.parameters.anchor.rawValue
        let customers = try await Self.signed(world.customers, width: width) { customer in
            try customer.transactions
                .map {
                    try SignedTransaction($0, of: customer.identity, signedDate: anchor, by: sealer, in: app)
                }
                .sorted { $0.position < $1.position }
        }
        let notifications = try await Self.signed(world.notifications, width: width) {
            try SignedNotification($0, by: sealer, in: app)
        }
        var places: [Int: [Int]] = [:]
        for (place, notification) in world.notifications.enumerated() {
            if let customer = notification.customer { places[customer.index, default: []].append(place) }
        }
        state = Mutex(
            State(world: world, transactions: customers, notifications: notifications, places: places)
        )
    }

    /// Runs `sign` on slices of the elements, several at a time, and keeps their order.
    private static func signed<Element: Sendable, Signed: Sendable>(
        _ elements: [Element],
        width: Int,
        _ sign: @escaping @Sendable (Element) throws -> Signed
    ) async throws -> [Signed] {
        let size = 64
        let slices = stride(from: 0, to: elements.count, by: size).map { $0..<min($0 + size, elements.count) }
        let results = Mutex<[Int: [Signed]]>([:])
        let waiting = Mutex(slices.makeIterator())
        try await withBoundedWorkers(width: width, next: { waiting.withLock { $0.next() } }) { slice in
            try Task.checkCancellation()
            let part = try elements[slice].map(sign)
            results.withLock { $0[slice.lowerBound] = part }
        }
        let parts = results.withLock { $0 }
        return slices.flatMap { parts[$0.lowerBound] ?? [] }
    }

    /// The customer who owns the ID, with their transactions in the order of modification.
    func history(of id: TransactionID) -> (customer: Int, transactions: [SignedTransaction])? {
        state.withLock { state in
            state.world.customer(owning: id).map { ($0, state.transactions[$0]) }
        }
    }

    /// The notifications of one customer, or of the whole app, each with its place in the order.
    ///
    /// - `place`: Where to begin looking.
    /// - `limit`: How many to return at most.
    func notifications(
        of customer: Int?,
        from place: Int,
        limit: Int,
        where admits: (Notification) -> Bool
    ) -> [(place: Int, record: SignedNotification)] {
        let (all, places) = state.withLock { state in
            (state.notifications, customer.map { state.places[$0] ?? [] })
        }
        let candidates: any Sequence<Int> =
            if let places {
                places.drop { $0 < place }
            } else {
                min(place, all.count)..<all.count
            }
        var found: [(place: Int, record: SignedNotification)] = []
        for candidate in candidates where admits(all[candidate].notification) {
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
        let all = state.withLock { $0.notifications }
        var range = 0..<all.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                all[middle].notification.date < date
                ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Makes changes and signs what they touched; whoever asks next sees all of them.
    func advance(by step: WorldStep) throws -> [WorldChange] {
        try state.withLock { state in
            let changes = state.world.make(step)
            for change in changes {
                let customer = state.world.customers[change.customer]
                let record = try SignedTransaction(
                    customer.transactions[change.position],
                    of: customer.identity,
                    signedDate: change.date,
                    by: sealer,
                    in: app
                )
                state.transactions[change.customer].removeAll { $0.transaction.id == record.transaction.id }
                state.transactions[change.customer].append(record)
                state.places[change.customer, default: []].append(state.notifications.count)
                state.notifications.append(try SignedNotification(change.notification, by: sealer, in: app))
            }
            return changes
        }
    }

    /// Everything that can be read now.
    var everything: (transactions: [[SignedTransaction]], notifications: [SignedNotification]) {
        state.withLock { ($0.transactions, $0.notifications) }
    }
}

extension CursorPosition: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        (left.date, left.number) < (right.date, right.number)
    }
}
