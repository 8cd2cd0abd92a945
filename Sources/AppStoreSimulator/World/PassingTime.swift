/// Lets time pass in the world: periods end, and customers come.
extension World {
    /// Renews or ends the periods that are over at `moment` and were not at the last such step, both in milliseconds since 1970.
    ///
    /// Four of five subscriptions that renew automatically do so (DID_RENEW), without a gap, some with an offer or at a higher price. The
    /// others lapse, and Apple tells it (DID_FAIL_TO_RENEW, GRACE_PERIOD_EXPIRED, EXPIRED).
    mutating func passTime(until moment: Int64) -> [WorldChange] {
        let span = (passedUntil + 1)..<(max(passedUntil, moment) + 1)
        passedUntil = span.upperBound - 1
        return customers.indices.flatMap { index in
            customers[index].subscriptions.flatMap { chain in
                renewal(of: chain, customer: index, endingIn: span).map { [$0] }
                    ?? lapses(of: chain, customer: index, in: span)
            }
        }
    }

    /// `nil` for a subscription that does not renew in this span.
    private mutating func renewal(of chain: [Transaction], customer: Int, endingIn span: Range<Int64>) -> WorldChange? {
        guard let last = chain.last, let end = last.expiresDate, span.contains(end), last.cancelledDate == nil,
            timeline(of: chain).latest(at: end - 1).map({ $0.renewal.state.renews }) ?? false
        else { return nil }
        var random = SplitMix64(seed: parameters.seed, path: 15, last.id)
        let place = customers[customer].transactions.count
        let id = ids.id(customer: customer, position: place)
        let full = customers[customer].identity.storefront.price(cents: last.product.cents)
        guard random.chance(percent: 80), var next = last.next(as: id, lineItem: ids.lineItem(of: id), fullPrice: full)
        else { return nil }
        if next.advancedCommerce == nil {
            if random.chance(percent: 5) {
                next.offer = .loyalty
                next.price = next.price * Offer.loyalty.percentPaid / 100
            } else if random.chance(percent: 5) {
                next.price = next.price * 21 / 20
            }
        }
        now = self.moment(for: span.upperBound - 1)
        next.recordedDate = now
        customers[customer].transactions.append(next)
        let kind = NotificationKind("DID_RENEW", about: .subscription(.active))
        return record(kind, customer: customer, position: place, isNew: true)
    }

    private mutating func lapses(of chain: [Transaction], customer: Int, in span: Range<Int64>) -> [WorldChange] {
        timeline(of: chain).events.filter { span.contains($0.date) && Self.lapseTypes.contains($0.type) }.compactMap {
            event in
            guard let position = customers[customer].transactions.firstIndex(where: { $0.id == event.transaction.id })
            else { return nil }
            now = moment(for: span.upperBound - 1)
            let kind = NotificationKind(event.type, event.subtype, about: .subscription(event.renewal.state))
            return record(kind, customer: customer, position: position, isChanged: false)
        }
    }

    private static let lapseTypes: Set<String> = ["DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED"]

    /// Adds `count` customers with a first purchase each, a millisecond apart: some with an introductory offer, with seats, or as a
    /// member of a family.
    ///
    /// The first one is at `date` (milliseconds since 1970), or right after the previous change if that is later.
    mutating func addCustomers(count: Int, from date: Int64) -> [WorldChange] {
        (0..<count).map { _ in
            changeCount += 1
            now = moment(for: date)
            var random = SplitMix64(seed: parameters.seed, path: 16, UInt64(changeCount))
            let index = customers.count
            customers.append(Customer(identity: CustomerIdentity(index: index, seed: parameters.seed)))
            let isSubscription = random.chance(percent: 70)
            var terms = PurchaseTerms()
            if isSubscription {
                if random.chance(percent: 40) { terms.offer = random.pick(Offer.forFirstPurchase) }
                if random.chance(percent: 10) { terms.quantity = random.within(2..<20) }
                terms.isFamilyShared = terms.quantity == 1 && random.chance(percent: 10)
            }
            return purchase(customer: index, isSubscription: isSubscription, terms, random: &random)
        }
    }
}

/// What differs from an ordinary purchase at the full price.
struct PurchaseTerms {
    var offer: Offer?
    /// The number of seats, or of items.
    var quantity: Int64 = 1
    var isFamilyShared = false
}

extension SubscriptionState {
    /// Whether a next period follows when this one ends.
    fileprivate var renews: Bool { status == 1 && renewsAutomatically }
}

extension Transaction {
    /// The transaction of the period that follows without a gap, at the price of this one; `nil` when there is none.
    ///
    /// - `fullPrice`: In milliunits, after a period with an offer.
    fileprivate func next(as id: UInt64, lineItem: UInt64, fullPrice: Int64) -> Transaction? {
        guard let end = expiresDate, let length = product.period else { return nil }
        if advancedCommerce != nil { return renewed(as: id, lineItem: lineItem, at: end) }
        var next = Transaction(
            id: id,
            originalId: originalId,
            product: product,
            purchaseDate: end,
            originalPurchaseDate: originalPurchaseDate
        )
        next.reason = .renewal
        next.expiresDate = end + length.milliseconds
        next.webOrderLineItemId = lineItem
        next.quantity = quantity
        next.multiSeat = multiSeat
        next.isFamilyShared = isFamilyShared
        next.price = offer == nil ? price : fullPrice
        next.billingPlanType = billingPlanType
        next.previousOriginalId = previousOriginalId
        next.accountTokens = accountTokens
        next.commitment = commitment.map { commitment in
            let isOver = commitment.periodNumber == Commitment.periods
            return Commitment(
                periodNumber: isOver ? 1 : commitment.periodNumber + 1,
                expiresDate: commitment.expiresDate + (isOver ? Commitment.periods * length.milliseconds : 0),
                price: commitment.price
            )
        }
        return next
    }
}
