import AppStoreModel

/// Generates the notifications of a world: those its purchases cause, and one example of every other kind.
struct NotificationBuilder {
    private let seed: UInt64
    private let now: Int64
    private let oldest: Int64
    private let app: SimulatedApp
    private(set) var notifications: [Notification] = []
    /// The states that examples announce, by the original ID of their subscriptions.
    private(set) var examples: [UInt64: [SubscriptionTimeline.Example]] = [:]
    /// The subscriptions of other examples, which announce no state.
    private var mentioned: Set<UInt64> = []

    init(parameters: WorldParameters, app: SimulatedApp) {
        seed = parameters.seed
        now = parameters.anchor.rawValue
        oldest = now - parameters.environment.notificationReach.wholeMilliseconds
        self.app = app
    }

    mutating func add(from customer: Customer) {
        for chain in customer.subscriptions where SubscriptionTimeline.reaches(oldest, chain) {
            for event in SubscriptionTimeline(chain, anchor: now).events {
                add(
                    event.type,
                    event.subtype,
                    at: event.date,
                    about: event.transaction,
                    renewal: event.renewal,
                    of: customer.identity
                )
            }
        }
        for purchase in customer.transactions where purchase.product.kind != .autoRenewable {
            add("ONE_TIME_CHARGE", at: purchase.purchaseDate, about: purchase, of: customer.identity)
            guard let refund = purchase.revocation else { continue }
            add("CONSUMPTION_REQUEST", at: purchase.refundRequestDate, about: purchase, of: customer.identity)
            add("REFUND", at: refund.date, about: purchase, of: customer.identity)
        }
    }

    /// Adds one notification of each kind in ``NotificationKind/all`` that is missing and for which a transaction exists.
    mutating func complete(with customers: [Customer]) {
        let present = Set(notifications.map { [$0.kind.type, $0.kind.subtype ?? ""] })
        for (number, kind) in NotificationKind.all.enumerated()
        where !present.contains([kind.type, kind.subtype ?? ""]) {
            addExample(of: kind, number: number, from: customers)
        }
    }

    private mutating func add(
        _ type: String,
        _ subtype: String? = nil,
        at date: Int64,
        about transaction: Transaction,
        renewal: Renewal? = nil,
        of customer: CustomerIdentity
    ) {
        guard (oldest..<now).contains(date), let kind = NotificationKind.named(type, subtype) else { return }
        notifications.append(
            Self.notification(
                kind,
                at: date,
                about: transaction,
                renewal: renewal,
                of: customer,
                in: app,
                seed: seed
            )
        )
    }

    private mutating func addExample(of kind: NotificationKind, number: Int, from customers: [Customer]) {
        let date = now - Moment.day - Int64(number) * 10 * Moment.hour
        var random = SplitMix64(seed: seed, path: 5, UInt64(number))
        let start = random.below(max(1, customers.count))
        switch kind.subject {
        case .subscription(let state):
            return announce(state, by: kind, isAdvanced: false, at: date, to: customers, start: start)
        case .advancedSubscription(let state):
            return announce(state, by: kind, isAdvanced: true, at: date, to: customers, start: start)
        case .oneTime, .refunded, .familyRevoked:
            return addExample(of: kind, at: date, from: customers, start: start)
        case .summary, .externalToken, .appTransaction, .app:
            break
        }
        let content: Notification.Content? =
            switch kind.subject {
            case .summary:
                .summary(
                    Notification.Summary(
                        requestIdentifier: random.uuid(),
                        productId: Product.subscriptions[0].id,
                        storefronts: ["USA", "DEU", "JPN"],
                        succeeded: 9_000_000_017,
                        failed: 3
                    )
                )
            case .externalToken:
                .externalToken(
                    SimulatedPurchaseToken(
                        id: (app.environment == .sandbox ? "SANDBOX_" : "") + random.uuid(),
                        type: kind.subtype == "CREATED" ? "ACQUISITION" : "SERVICES",
                        creationDate: date - Moment.day,
                        expirationDate: date + 30 * Moment.day
                    )
                )
            case .appTransaction:
                customers.first { !$0.transactions.isEmpty }
                    .flatMap { SimulatedAppTransaction(of: $0, seed: seed) }
                    .map { .appTransaction($0) }
            case .app:
                Notification.Content.none
            default:
                nil
            }
        guard let content else { return }
        let customer: CustomerIdentity? = if case .appTransaction(let app) = content { app.customer } else { nil }
        notifications.append(
            Notification(
                uuid: random.uuid(),
                kind: kind,
                date: date,
                customer: customer,
                content: content,
                attempts: SendAttempt.attempts(
                    from: date,
                    retries: app.environment == .production,
                    random: &random
                )
            )
        )
    }

    /// Adds a notification that announces a state, for a subscription of which nothing later is known.
    ///
    /// It is one whose status is the announced one already, or else any. Customers are searched from the one at `start` on.
    private mutating func announce(
        _ state: SubscriptionState,
        by kind: NotificationKind,
        isAdvanced: Bool,
        at date: Int64,
        to customers: [Customer],
        start: Int
    ) {
        var found: (customer: CustomerIdentity, transaction: Transaction)?
        search: for offset in customers.indices {
            let customer = customers[(start + offset) % customers.count]
            for chain in customer.subscriptions.reversed()
            where (chain[0].advancedCommerce != nil) == isAdvanced && !mentioned.contains(chain[0].originalId) {
                guard let last = SubscriptionTimeline(chain, anchor: now).latest(at: now - 1), last.date <= date,
                    let transaction = chain.last(where: { $0.id == last.renewal.transaction.id })
                else { continue }
                let fits = last.renewal.state.status == state.status
                if fits || found == nil { found = (customer.identity, transaction) }
                if fits { break search }
            }
        }
        guard let (customer, transaction) = found else { return }
        examples[transaction.originalId, default: []].append(
            SubscriptionTimeline.Example(date: date, kind: kind, state: state)
        )
        let renewal = Renewal(transaction: transaction.known(at: date), state: state)
        add(kind.type, kind.subtype, at: date, about: transaction, renewal: renewal, of: customer)
    }

    /// Adds a notification about a transaction that fits the kind and was made by `date`.
    ///
    /// Customers are searched from the one at `start` on.
    private mutating func addExample(
        of kind: NotificationKind,
        at date: Int64,
        from customers: [Customer],
        start: Int
    ) {
        for offset in customers.indices {
            let customer = customers[(start + offset) % customers.count]
            let match = customer.transactions.last { $0.purchaseDate <= date && $0.suits(kind.subject, at: date) }
            guard let match else { continue }
            let chain = customer.transactions.filter { $0.originalId == match.originalId }
            let timeline = SubscriptionTimeline(chain, anchor: now, examples: examples[match.originalId] ?? [])
            mentioned.insert(match.originalId)
            return add(
                kind.type,
                kind.subtype,
                at: date,
                about: match,
                renewal: match.product.kind == .autoRenewable ? timeline.latest(at: date)?.renewal : nil,
                of: customer.identity
            )
        }
    }

    /// A notification of `date` (milliseconds since 1970) that is not about one customer.
    static func notification(
        _ kind: NotificationKind,
        at date: Int64,
        content: Notification.Content,
        in app: SimulatedApp,
        seed: UInt64
    ) -> Notification {
        var random = SplitMix64(seed: seed, path: 14, UInt64(date))
        return Notification(
            uuid: random.uuid(),
            kind: kind,
            date: date,
            customer: nil,
            content: content,
            attempts: SendAttempt.attempts(from: date, retries: app.environment == .production, random: &random)
        )
    }

    /// A notification about a transaction, with the transaction's state at that moment.
    ///
    /// - `renewal`: The state of the subscription from that moment on; `nil` for other products.
    static func notification(
        _ kind: NotificationKind,
        at date: Int64,
        about transaction: Transaction,
        renewal: Renewal?,
        of customer: CustomerIdentity,
        in app: SimulatedApp,
        seed: UInt64
    ) -> Notification {
        var random = SplitMix64(seed: seed, path: 6, transaction.id, UInt64(date))
        for byte in (kind.type + (kind.subtype ?? "")).utf8 {
            random = SplitMix64(seed: random.next(), path: UInt64(byte))
        }
        let reason =
            kind.type == "CONSUMPTION_REQUEST"
            ? random.pick([
                "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
            ]) : nil
        return Notification(
            uuid: random.uuid(),
            kind: kind,
            date: date,
            customer: customer,
            content: .transaction(transaction.known(at: date), renewal, consumptionReason: reason),
            attempts: SendAttempt.attempts(
                from: date,
                retries: app.environment == .production,
                random: &random
            )
        )
    }
}

extension Transaction {
    fileprivate func suits(_ subject: NotificationKind.Subject, at date: Int64) -> Bool {
        switch subject {
        case .oneTime: product.kind == .consumable && revocation == nil
        case .refunded: refundDate.map { $0 <= date } ?? false
        case .familyRevoked: revocation?.type == .family && revocation.map { $0.date <= date } ?? false
        case .subscription, .advancedSubscription, .summary, .externalToken, .appTransaction, .app: false
        }
    }
}
