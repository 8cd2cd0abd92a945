import Synchronization

/// Every notification that the simulator posts, with the attempts made.
///
/// The history, the status of test notifications and the poster read the same attempts, so they agree.
final class DeliveryLog: Sendable {
    fileprivate struct State {
        let version: DeliverySettings.Version
        var deliveries: [String: Delivery] = [:]
        /// The UUIDs in the order in which the notifications were sent.
        var order: [String] = []
        /// Those that Apple has not finished.
        var open: Set<String> = []
        /// Those whose attempt is due, the last one first.
        var ready: [String] = []
        /// No attempt of the others is due before, in milliseconds since 1970.
        var nextDue = Int64.max
        var faults = DeliveryFaults()

        init(version: DeliverySettings.Version) {
            self.version = version
        }

        /// Version 1 has no notifications of many events.
        func posts(_ notification: Notification) -> Bool {
            version == .two || notification.isAlwaysVersionTwo || notification.versionOneType != nil
        }
    }

    private let journal: DeliveryJournal
    private let schedule: RetrySchedule
    private let state: Mutex<State>

    /// - Parameters:
    ///   - journal: Keeps the attempts for the next process.
    ///   - settings: Version and speed.
    ///   - retries: Whether Apple tries again, which it does in production only.
    init(journal: DeliveryJournal, settings: DeliverySettings, retries: Bool) {
        self.journal = journal
        schedule = RetrySchedule(settings.version, retries: retries, speed: settings.retrySpeed)
        state = Mutex(State(version: settings.version))
    }

    /// Takes up the notifications of an earlier process; at the first start, notifications that exist already are not posted.
    ///
    /// - `notifications`: All of the world, in its order.
    func begin(with notifications: [Notification]) throws(SimulatorError) {
        guard let content = try journal.read() else { return try journal.begin(firstPlace: notifications.count) }
        state.withLock { state in
            for notification in notifications.dropFirst(content.firstPlace) {
                state.add(notification, attempts: content.attempts[notification.uuid] ?? [], schedule)
            }
        }
    }

    /// Adds new notifications, in the order of their changes.
    func add(_ notifications: [Notification]) {
        state.withLock { state in
            for notification in notifications { state.add(notification, attempts: [], schedule) }
        }
    }

    /// Replaces all fault rules and ends the faults of earlier notifications.
    func replace(with faults: DeliveryFaults) {
        state.withLock { state in
            state.faults = faults
            for uuid in state.order { state.deliveries[uuid]?.fault = nil }
        }
    }

    /// The next delivery of which an attempt is due at `now` (milliseconds since 1970), in the order of sending.
    ///
    /// It is under way until ``record(_:of:)``.
    func takeNext(at now: Int64) -> Delivery? {
        state.withLock { state in
            if state.ready.isEmpty, state.nextDue <= now { state.collectDue(at: now) }
            return state.ready.popLast().flatMap { state.deliveries[$0] }
        }
    }

    /// Keeps the body of a notification for later attempts.
    func keep(_ body: [UInt8], of uuid: String) {
        state.withLock { $0.deliveries[uuid]?.body = body }
    }

    /// Counts a post that the server answered with a status from 200 to 206.
    func countAnswer(of uuid: String) {
        state.withLock { $0.deliveries[uuid]?.answered += 1 }
    }

    /// Records an attempt; every later answer shows it.
    func record(_ attempt: SendAttempt, of uuid: String) throws(SimulatorError) {
        try state.withLock { state throws(SimulatorError) in
            try journal.append(attempt, of: uuid)
            state.deliveries[uuid]?.record(attempt, schedule: schedule)
            state.note(uuid)
        }
    }

    /// The notification as the history shows it; unchanged when the simulator does not post it.
    func shown(_ notification: Notification) -> Notification {
        state.withLock { $0.deliveries[notification.uuid]?.shown } ?? notification
    }

    /// The answer to `GET /simulator/deliveries`.
    var jsonLines: [UInt8] {
        let deliveries = state.withLock { state in state.order.compactMap { state.deliveries[$0] } }
        return deliveries.flatMap { $0.json + [UInt8(ascii: "\n")] }
    }
}

extension DeliveryLog.State {
    fileprivate mutating func add(_ notification: Notification, attempts: [SendAttempt], _ schedule: RetrySchedule) {
        guard posts(notification) else { return }
        var delivery = Delivery(
            notification,
            number: order.count,
            attempts: attempts,
            schedule: schedule,
            // Apple's history has only notifications of version 2.
            isInHistory: version == .two || notification.isAlwaysVersionTwo
        )
        delivery.fault = faults.next(for: notification)
        order.append(notification.uuid)
        deliveries[notification.uuid] = delivery
        note(notification.uuid)
    }

    /// Updates what depends on when the next attempt of a notification is due.
    fileprivate mutating func note(_ uuid: String) {
        if let due = deliveries[uuid]?.due {
            open.insert(uuid)
            nextDue = min(nextDue, due)
        } else {
            open.remove(uuid)
        }
    }

    /// Moves the deliveries that are due to ``ready``.
    fileprivate mutating func collectDue(at now: Int64) {
        var due: [Delivery] = []
        nextDue = .max
        for delivery in open.compactMap({ deliveries[$0] }) where !delivery.isUnderWay {
            guard let date = delivery.due else { continue }
            if date <= now { due.append(delivery) } else { nextDue = min(nextDue, date) }
        }
        due.sort { $0.place > $1.place }
        ready = due.map(\.notification.uuid)
        for uuid in ready { deliveries[uuid]?.isUnderWay = true }
    }
}
