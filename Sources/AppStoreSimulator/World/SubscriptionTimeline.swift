/// The life of one auto-renewable subscription: what happened when, and the state it was in from then on.
///
/// Its notifications and Get All Subscription Statuses are both made from it, so they agree.
struct SubscriptionTimeline: Sendable {
    /// Something that happened to the subscription, as a notification of that moment tells it.
    struct Event: Sendable {
        /// Milliseconds since 1970.
        let date: Int64
        let type: String
        let subtype: String?
        /// The transaction it is about, as it was then.
        let transaction: Transaction
        /// The state of the subscription from then on; its transaction is the latest one at that moment.
        fileprivate(set) var renewal: Renewal
    }

    /// A state that a notification announces and that does not follow from the transactions, such as an accepted offer.
    struct Example: Sendable, Equatable {
        /// Milliseconds since 1970.
        let date: Int64
        let kind: NotificationKind
        let state: SubscriptionState
    }

    /// In the order of their dates, including future ones.
    ///
    /// A period that nothing follows lapses at its end, whenever that is. No notification is sent about events after the world's
    /// anchor.
    let events: [Event]
    private let chain: [Transaction]

    /// - Parameters:
    ///   - chain: All transactions of the subscription, the first purchase first.
    ///   - anchor: The world's moment, in milliseconds since 1970.
    ///   - examples: States that examples of notifications announce.
    init(_ chain: [Transaction], anchor: Int64, examples: [Example] = []) {
        self.chain = chain
        var steps: [TimelineStep] = []
        for (index, transaction) in chain.enumerated() {
            let next = index + 1 < chain.count ? chain[index + 1] : nil
            steps.append(TimelineStep.purchase(transaction, previous: index > 0 ? chain[index - 1] : nil))
            steps += transaction.extensions.map {
                TimelineStep($0.date, "RENEWAL_EXTENDED", about: transaction, .unchanged)
            }
            steps += TimelineStep.cancellation(of: transaction)
            // Otherwise the next period follows without a gap.
            if transaction.upgradedDate == nil, next == nil || next?.reason == .purchase {
                steps += Lapse(of: transaction, anchor: anchor)?.steps ?? []
            }
            steps += TimelineStep.refund(of: transaction)
        }
        steps += examples.compactMap { example in
            chain.last { $0.purchaseDate <= example.date }.map {
                TimelineStep(
                    example.date,
                    example.kind.type,
                    example.kind.subtype,
                    about: $0,
                    .announces(example.state)
                )
            }
        }
        events = Self.events(of: steps)
    }

    /// The last event at or before `moment`, in milliseconds since 1970; `nil` before the first purchase.
    ///
    /// Its renewal info has the latest transaction as it is at `moment`: a new app account token is no event.
    func latest(at moment: Int64) -> Event? {
        guard var event = events.last(where: { $0.date <= moment }) else { return nil }
        let renewal = event.renewal
        if let transaction = chain.last(where: { $0.id == renewal.transaction.id }) {
            event.renewal = Renewal(transaction: transaction.known(at: moment), state: renewal.state)
        }
        return event
    }

    private static func events(of steps: [TimelineStep]) -> [Event] {
        var events: [Event] = []
        events.reserveCapacity(steps.count)
        var current: Renewal?
        // Steps of one moment stay in their order.
        for (_, step) in steps.enumerated().sorted(by: { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) })
        {
            let isCurrent = current?.transaction.id == step.transaction.id
            switch step.effect {
            case .begins:
                current = Renewal(transaction: step.transaction, state: .active)
            case .lapses(let state):
                // The customer has subscribed again, or the purchase was revoked.
                guard isCurrent, current?.state != .revoked else { continue }
                current = current.map { Renewal(transaction: $0.transaction, state: state) }
            case .revokes:
                if isCurrent { current = current.map { Renewal(transaction: $0.transaction, state: .revoked) } }
            case .announces(let state):
                current = current.map { Renewal(transaction: $0.transaction, state: state) }
            case .unchanged:
                break
            }
            guard let current else { continue }
            events.append(
                Event(
                    date: step.date,
                    type: step.type,
                    subtype: step.subtype,
                    transaction: step.transaction.known(at: step.date),
                    renewal: Renewal(transaction: current.transaction.known(at: step.date), state: current.state)
                )
            )
        }
        return events
    }
}

/// One step of a timeline before it is known which state the subscription is in.
private struct TimelineStep {
    enum Effect {
        /// A period begins.
        case begins
        /// A period ends without a next one.
        case lapses(SubscriptionState)
        /// The subscription ends, if the transaction is its latest one.
        case revokes
        case announces(SubscriptionState)
        case unchanged
    }

    let date: Int64
    let type: String
    let subtype: String?
    let transaction: Transaction
    let effect: Effect

    init(_ date: Int64, _ type: String, _ subtype: String? = nil, about transaction: Transaction, _ effect: Effect) {
        self.date = date
        self.type = type
        self.subtype = subtype
        self.transaction = transaction
        self.effect = effect
    }

    static func purchase(_ transaction: Transaction, previous: Transaction?) -> TimelineStep {
        let date = transaction.purchaseDate
        if transaction.reason == .renewal {
            let recovered = transaction.id % 16 == 3
            return TimelineStep(date, "DID_RENEW", recovered ? "BILLING_RECOVERY" : nil, about: transaction, .begins)
        }
        if transaction.id == transaction.originalId {
            return TimelineStep(date, "SUBSCRIBED", "INITIAL_BUY", about: transaction, .begins)
        }
        return previous?.upgradedDate == date
            ? TimelineStep(date, "DID_CHANGE_RENEWAL_PREF", "UPGRADE", about: transaction, .begins)
            : TimelineStep(date, "SUBSCRIBED", "RESUBSCRIBE", about: transaction, .begins)
    }

    /// The app's server turned automatic renewal off.
    static func cancellation(of transaction: Transaction) -> [TimelineStep] {
        guard let date = transaction.cancelledDate else { return [] }
        let kind = NotificationKind.automaticRenewalOff
        return [TimelineStep(date, kind.type, kind.subtype, about: transaction, .announces(.autoRenewOff))]
    }

    static func refund(of transaction: Transaction) -> [TimelineStep] {
        guard let revocation = transaction.revocation else { return [] }
        if revocation.type == .family { return [TimelineStep(revocation.date, "REVOKE", about: transaction, .revokes)] }
        return [
            TimelineStep(transaction.refundRequestDate, "CONSUMPTION_REQUEST", about: transaction, .unchanged),
            TimelineStep(revocation.date, "REFUND", about: transaction, .revokes),
        ]
    }
}

/// How a period ends that no other follows.
private struct Lapse {
    private enum Cause {
        case cancelled
        /// The customer has not consented to a price increase.
        case priceRefused
        case billingFailed
        /// The customer keeps access while Apple tries to bill again.
        case billingFailedInGracePeriod
    }

    private let transaction: Transaction
    private let end: Int64
    private let anchor: Int64

    init?(of transaction: Transaction, anchor: Int64) {
        guard let end = transaction.expiresDate else { return nil }
        self.transaction = transaction
        self.end = end
        self.anchor = anchor
    }

    /// Half of the subscriptions that end shortly before the anchor, and that neither a cancellation nor a refused price ends, are
    /// in their grace period, so that a small world has some, too.
    private var cause: Cause {
        if transaction.cancelledDate != nil { return .cancelled }
        if transaction.isPriceRefused { return .priceRefused }
        if (anchor - Renewal.gracePeriod..<anchor).contains(end) {
            let causes: [Cause] = [
                .cancelled, .billingFailed, .billingFailedInGracePeriod, .billingFailedInGracePeriod,
            ]
            return causes[Int(transaction.id % 4)]
        }
        guard transaction.id % 3 == 0 else { return .cancelled }
        return transaction.id % 2 == 0 ? .billingFailedInGracePeriod : .billingFailed
    }

    var steps: [TimelineStep] {
        switch cause {
        case .cancelled:
            var steps = [step(end, "EXPIRED", "VOLUNTARY", .expired(intent: 1))]
            // A subscription that is active at the anchor renews as far as anyone knows.
            if end < anchor, transaction.cancelledDate == nil {
                let date = max(transaction.purchaseDate, end - 2 * Moment.day)
                steps.insert(step(date, "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .autoRenewOff), at: 0)
            }
            return steps
        case .priceRefused:
            return [step(end, "EXPIRED", "PRICE_INCREASE", .expired(intent: 3))]
        case .billingFailed:
            return [step(end, "DID_FAIL_TO_RENEW", nil, .billingRetry), expiry]
        case .billingFailedInGracePeriod:
            return [
                step(end, "DID_FAIL_TO_RENEW", "GRACE_PERIOD", .gracePeriod),
                step(end + Renewal.gracePeriod, "GRACE_PERIOD_EXPIRED", nil, .billingRetry),
                expiry,
            ]
        }
    }

    /// Apple tries to bill for 60 days.
    private var expiry: TimelineStep {
        step(end + SubscriptionTimeline.billingRetry, "EXPIRED", "BILLING_RETRY", .expired(intent: 2))
    }

    private func step(_ date: Int64, _ type: String, _ subtype: String?, _ state: SubscriptionState) -> TimelineStep {
        TimelineStep(date, type, subtype, about: transaction, .lapses(state))
    }
}

extension SubscriptionTimeline {
    /// How long Apple tries to bill, in milliseconds.
    static let billingRetry = 60 * Moment.day

    /// Whether an event of the subscription can be at or after `moment`, in milliseconds since 1970.
    static func reaches(_ moment: Int64, _ chain: [Transaction]) -> Bool {
        chain.contains { transaction in
            let end = transaction.expiresDate.map { $0 + billingRetry } ?? transaction.purchaseDate
            return max(end, transaction.purchaseDate, transaction.revocation?.date ?? .min) >= moment
        }
    }
}

extension Customer {
    /// The transactions of each auto-renewable subscription, the first purchase first.
    var subscriptions: [[Transaction]] {
        var chains: [[Transaction]] = []
        for transaction in transactions where transaction.product.kind == .autoRenewable {
            // Almost always the last one: only a renewal of a change stands behind other purchases.
            if let place = chains.lastIndex(where: { $0[0].originalId == transaction.originalId }) {
                chains[place].append(transaction)
            } else {
                chains.append([transaction])
            }
        }
        return chains
    }
}
