import AppStoreModel

/// Generates the notifications of a world: those its purchases cause, and one example of every other kind.
struct NotificationBuilder {
    private let seed: UInt64
    private let now: Int64
    private let oldest: Int64
    private let app: SimulatedApp
    private(set) var notifications: [Notification] = []

    init(parameters: WorldParameters, app: SimulatedApp) {
        seed = parameters.seed
        now = parameters.anchor.rawValue
        oldest = now - parameters.environment.notificationReach.wholeMilliseconds
        self.app = app
    }

    mutating func add(from customer: Customer) {
        for (index, transaction) in customer.transactions.enumerated() {
            addPurchase(
                transaction,
                of: customer.identity,
                previous: index > 0 ? customer.transactions[index - 1] : nil
            )
            addEnd(of: transaction, of: customer, index: index)
            addRefund(of: transaction, of: customer.identity)
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

    private mutating func addPurchase(_ transaction: Transaction, of customer: CustomerIdentity, previous: Transaction?)
    {
        let date = transaction.purchaseDate
        switch (transaction.product.kind, transaction.reason) {
        case (.autoRenewable, .renewal):
            let recovered = transaction.id % 16 == 3
            add("DID_RENEW", recovered ? "BILLING_RECOVERY" : nil, at: date, about: transaction, of: customer)
        case (.autoRenewable, .purchase) where transaction.id == transaction.originalId:
            add("SUBSCRIBED", "INITIAL_BUY", at: date, about: transaction, of: customer)
        case (.autoRenewable, .purchase) where previous?.upgradedDate == date:
            add("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: date, about: transaction, of: customer)
        case (.autoRenewable, .purchase):
            add("SUBSCRIBED", "RESUBSCRIBE", at: date, about: transaction, of: customer)
        default:
            add("ONE_TIME_CHARGE", at: date, about: transaction, of: customer)
        }
    }

    /// A subscription period without renewal: renewal was disabled two days before its end, or billing failed.
    private mutating func addEnd(of transaction: Transaction, of customer: Customer, index: Int) {
        let next = customer.transactions.dropFirst(index + 1).first
        guard let end = transaction.expiresDate, end < now, transaction.upgradedDate == nil,
            next?.originalId != transaction.originalId || next?.reason == .purchase
        else { return }
        if transaction.id % 3 == 0 {
            add("DID_FAIL_TO_RENEW", at: end, about: transaction, of: customer.identity)
            add("EXPIRED", "BILLING_RETRY", at: end + 60 * Moment.day, about: transaction, of: customer.identity)
        } else {
            let off = max(transaction.purchaseDate, end - 2 * Moment.day)
            add("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: off, about: transaction, of: customer.identity)
            add("EXPIRED", "VOLUNTARY", at: end, about: transaction, of: customer.identity)
        }
    }

    private mutating func addRefund(of transaction: Transaction, of customer: CustomerIdentity) {
        guard let revocation = transaction.revocation else { return }
        if revocation.type == .family {
            add("REVOKE", at: revocation.date, about: transaction, of: customer)
        } else {
            let asked = max(transaction.purchaseDate, revocation.date - 12 * Moment.hour)
            add("CONSUMPTION_REQUEST", at: asked, about: transaction, of: customer)
            add("REFUND", at: revocation.date, about: transaction, of: customer)
        }
    }

    private mutating func add(
        _ type: String,
        _ subtype: String? = nil,
        at date: Int64,
        about transaction: Transaction,
        of customer: CustomerIdentity
    ) {
        guard (oldest..<now).contains(date), let kind = NotificationKind.named(type, subtype) else { return }
        notifications.append(
            Self.notification(
                kind,
                at: date,
                about: transaction,
                of: customer,
                in: app,
                seed: seed
            )
        )
    }

    private mutating func addExample(of kind: NotificationKind, number: Int, from customers: [Customer]) {
        let date = now - Moment.day - Int64(number) * 10 * Moment.hour
        var random = SplitMix64(seed: seed, path: 5, UInt64(number))
        let example = Self.example(of: kind, at: date, from: customers, start: random.below(max(1, customers.count)))
        if let (customer, transaction) = example {
            add(kind.type, kind.subtype, at: date, about: transaction, of: customer)
            return
        }
        let content: Notification.Content? =
            switch kind.subject {
            case .summary:
                .summary(requestIdentifier: random.uuid(), succeeded: 9_000_000_017, failed: 3)
            case .externalToken:
                .externalToken(id: (app.environment == .sandbox ? "SANDBOX_" : "") + random.uuid())
            case .appTransaction:
                customers.first.map {
                    .appTransaction(
                        AppTransaction(
                            customer: $0.identity,
                            verificationNonce: random.uuid(),
                            originalPurchaseDate: now - 700 * Moment.day,
                            platform: random.pick(["iOS", "macOS", "tvOS", "visionOS"])
                        )
                    )
                }
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

    /// A transaction that fits the kind and was made by `date`, searched from the customer at `start` on.
    private static func example(
        of kind: NotificationKind,
        at date: Int64,
        from customers: [Customer],
        start: Int
    ) -> (CustomerIdentity, Transaction)? {
        for customer in customers[start...] + customers[..<start] {
            let match = customer.transactions.last { $0.purchaseDate <= date && $0.suits(kind.subject, at: date) }
            if let match { return (customer.identity, match) }
        }
        return nil
    }

    /// A notification about a transaction, with the transaction's state at that moment.
    static func notification(
        _ kind: NotificationKind,
        at date: Int64,
        about transaction: Transaction,
        of customer: CustomerIdentity,
        in app: SimulatedApp,
        seed: UInt64
    ) -> Notification {
        var random = SplitMix64(seed: seed, path: 6, transaction.id, UInt64(date))
        for byte in (kind.type + (kind.subtype ?? "")).utf8 {
            random = SplitMix64(seed: random.next(), path: UInt64(byte))
        }
        let known = transaction.known(at: date)
        let state: SubscriptionState? =
            switch kind.subject {
            case .subscription(let state), .advancedSubscription(let state): state
            case .refunded, .familyRevoked: .revoked
            default: .active
            }
        let renewal: Renewal? =
            transaction.product.kind == .autoRenewable
            ? state.map { Renewal(transaction: known, state: $0) } : nil
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
            content: .transaction(known, renewal, consumptionReason: reason),
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
        case .subscription: product.kind == .autoRenewable && advancedCommerce == nil
        case .advancedSubscription: product.kind == .autoRenewable && advancedCommerce != nil
        case .oneTime: product.kind == .consumable && revocation == nil
        case .refunded: refundDate.map { $0 <= date } ?? false
        case .familyRevoked: revocation?.type == .family && revocation.map { $0.date <= date } ?? false
        case .summary, .externalToken, .appTransaction, .app: false
        }
    }
}
