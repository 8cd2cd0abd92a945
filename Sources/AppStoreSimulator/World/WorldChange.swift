import AppStoreModel

/// One change of a world: a new or changed transaction, a notification, or both.
struct WorldChange: Sendable {
    /// `nil` for a notification that is not about one customer.
    var customer: Int?
    var transactionId: String?
    /// The index of the changed transaction among the customer's; `nil` when no transaction changed.
    var position: Int?
    var isNew = false
    let date: Int64
    /// `nil` when Apple sends none.
    var notification: Notification?
    /// The index of the notification in the world.
    var place: Int?
}

extension World {
    /// Makes `count` changes, a millisecond apart.
    ///
    /// The first one is at `date`, or right after the previous change if that is later.
    mutating func change(count: Int, from date: Int64 = .min) -> [WorldChange] {
        (0..<count).map { _ in change(at: moment(for: date)) }
    }

    /// The moment of a change at `date`: right after the latest change if that is later.
    ///
    /// Both are in milliseconds since 1970.
    func moment(for date: Int64) -> Int64 { max(now + 1, date) }

    /// Adds the changes of `days` days.
    ///
    /// On each day a thousandth of all transactions, at least one, is added or refunded.
    mutating func change(days: Int) -> [WorldChange] {
        let perDay = max(1, customers.reduce(0) { $0 + $1.transactions.count } / 1_000)
        return (0..<days).flatMap { _ in
            let start = now
            let changes = (1...perDay).map { change(at: start + Int64($0) * Moment.day / Int64(perDay)) }
            return changes
        }
    }

    private mutating func change(at date: Int64) -> WorldChange {
        changeCount += 1
        now = date
        var random = SplitMix64(seed: parameters.seed, path: 7, UInt64(changeCount))
        let index = random.below(customers.count)
        let refundable = customers[index].transactions.indices.filter {
            customers[index].transactions[$0].revocation == nil
        }
        return random.chance(percent: 40) && !refundable.isEmpty
            ? refund(
                customer: index,
                position: random.pick(refundable),
                percentage: random.chance(percent: 40) ? 43_210 : 100_000
            )
            : purchase(customer: index, isSubscription: random.chance(percent: 50), random: &random)
    }

    /// Refunds a transaction at the world's moment.
    ///
    /// - `percentage`: Thousandths of a percent, at most 100,000.
    mutating func refund(customer index: Int, position: Int, percentage: Int64) -> WorldChange {
        let prorated = percentage < 100_000
        var transaction = customers[index].transactions[position]
        transaction.revocation =
            transaction.isFamilyShared
            ? Transaction.Revocation(date: now, reason: 0, type: .family)
            : Transaction.Revocation(
                date: now,
                reason: 1,
                type: prorated ? .prorated : .full,
                percentage: percentage
            )
        transaction.advancedCommerce?.refund(at: now, prorated: prorated)
        customers[index].transactions[position] = transaction
        return record(
            NotificationKind(transaction.isFamilyShared ? "REVOKE" : "REFUND", about: .refunded),
            customer: index,
            position: position,
            isNew: false
        )
    }

    mutating func purchase(
        customer index: Int,
        isSubscription: Bool,
        _ terms: PurchaseTerms = PurchaseTerms(),
        random: inout SplitMix64
    ) -> WorldChange {
        let position = customers[index].transactions.count
        let id = ids.id(customer: index, position: position)
        let product = random.pick(isSubscription ? Product.subscriptions : Product.oneTime)
        var transaction = Transaction(
            id: id,
            originalId: id,
            product: product,
            purchaseDate: now,
            originalPurchaseDate: now
        )
        let period = terms.offer?.discount == .freeTrial ? Period.week : product.period
        transaction.expiresDate = period.map { now + $0.milliseconds }
        transaction.webOrderLineItemId = isSubscription ? ids.lineItem(of: id) : nil
        transaction.offer = terms.offer
        transaction.quantity = terms.quantity
        transaction.isFamilyShared = terms.isFamilyShared
        let full = customers[index].identity.storefront.price(cents: product.cents)
        transaction.price = terms.offer.map { full * $0.percentPaid / 100 } ?? full
        customers[index].transactions.append(transaction)
        let kind =
            isSubscription
            ? NotificationKind("SUBSCRIBED", "INITIAL_BUY", about: .subscription(.active))
            : NotificationKind("ONE_TIME_CHARGE", about: .oneTime)
        return record(kind, customer: index, position: position, isNew: true)
    }

    /// Adds a notification of the world's moment about a transaction.
    ///
    /// - `position`: The index of the transaction among the customer's.
    /// - `isChanged`: Whether the transaction is new or changed.
    mutating func record(
        _ kind: NotificationKind,
        customer index: Int,
        position: Int,
        isNew: Bool = false,
        isChanged: Bool = true
    ) -> WorldChange {
        let customer = customers[index]
        let transaction = customer.transactions[position]
        let chain = customer.transactions.filter { $0.originalId == transaction.originalId }
        let renewal = transaction.product.kind == .autoRenewable ? timeline(of: chain).latest(at: now)?.renewal : nil
        var change = record(
            NotificationBuilder.notification(
                kind,
                at: now,
                about: transaction,
                renewal: renewal,
                of: customer.identity,
                in: app,
                seed: parameters.seed
            )
        )
        change.customer = index
        change.transactionId = String(transaction.id)
        change.position = isChanged ? position : nil
        change.isNew = isNew
        return change
    }

    /// Adds a notification that is dated at the world's moment.
    mutating func record(_ notification: Notification) -> WorldChange {
        var notification = notification
        let place = notifications.count
        notification.delay = parameters.delay(ofNotification: place)
        notifications.append(notification)
        return WorldChange(date: now, notification: notification, place: place)
    }
}
