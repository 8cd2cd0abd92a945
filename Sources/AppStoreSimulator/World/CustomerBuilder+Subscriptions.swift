extension CustomerBuilder {
    /// Adds a subscription: its first purchase, then renewals, upgrades, gaps and resubscriptions.
    mutating func addSubscription(to product: Product, atMost limit: Int, isFamilyShared: Bool) {
        guard let period = product.period else { return }
        let length = min(limit, 1 + random.below(Int(1_080 / period.days) + 1))
        var chain = firstPurchase(of: product, isFamilyShared: isFamilyShared)
        for _ in 1..<max(1, length) {
            continueSubscription(&chain)
        }
        append(chain, endingAt: lastDay(period: period))
    }

    /// Adds a yearly commitment with monthly payments; after twelve payments the next commitment begins.
    mutating func addCommitment(atMost limit: Int) {
        let product = Product.committed
        var chain = firstPurchase(of: product, isFamilyShared: false, offer: nil)
        for _ in 1..<max(1, min(limit, 1 + random.below(30))) {
            renew(&chain, product: product)
        }
        let year = Commitment.periods * Period.month.milliseconds
        for index in chain.indices {
            let number = Int64(index) % Commitment.periods
            chain[index].billingPlanType = "MONTHLY"
            chain[index].commitment = Commitment(
                periodNumber: number + 1,
                expiresDate: chain[index].purchaseDate - number * Period.month.milliseconds + year,
                price: chain[index].price * Commitment.periods
            )
        }
        append(chain, endingAt: lastDay(period: .month))
    }

    /// The first transaction of a subscription, with the date 0.
    ///
    /// ``append(_:endingAt:)`` moves the whole chain to its real dates.
    mutating func firstPurchase(of product: Product, isFamilyShared: Bool) -> [Transaction] {
        firstPurchase(
            of: product,
            isFamilyShared: isFamilyShared,
            offer: random.chance(percent: 40) ? random.pick(Offer.forFirstPurchase) : nil
        )
    }

    mutating func firstPurchase(of product: Product, isFamilyShared: Bool, offer: Offer?) -> [Transaction] {
        let id = nextID
        var first = Transaction(id: id, originalId: id, product: product, purchaseDate: 0, originalPurchaseDate: 0)
        first.offer = offer
        first.isFamilyShared = isFamilyShared
        first.price = price(of: product, offer: offer)
        first.webOrderLineItemId = ids.lineItem(of: id)
        first.expiresDate = offer?.discount == .freeTrial ? Period.week.milliseconds : product.period?.milliseconds
        if product.period == .year { first.billingPlanType = "BILLED_UPFRONT" }
        if customer.identity.index % 25 == 1 { first.previousOriginalId = id - 1 }
        return [first]
    }

    private mutating func continueSubscription(_ chain: inout [Transaction]) {
        guard let last = chain.last else { return }
        let chance = random.below(100)
        if chance < 8, let better = last.product.upgrade.flatMap(Product.named) {
            upgrade(&chain, to: better)
        } else if chance < 14 {
            resubscribe(&chain)
        } else {
            renew(&chain, product: last.product, offer: chance < 18 ? .loyalty : nil)
        }
    }

    /// Adds a renewal without a gap: the new period begins when the last one ends.
    mutating func renew(_ chain: inout [Transaction], product: Product, offer: Offer? = nil) {
        guard let last = chain.last, let start = last.expiresDate else { return }
        add(to: &chain, product: product, from: start, reason: .renewal, offer: offer)
    }

    private mutating func upgrade(_ chain: inout [Transaction], to product: Product) {
        guard let last = chain.last, let end = last.expiresDate else { return }
        let date = last.purchaseDate + (end - last.purchaseDate) / 3
        chain[chain.count - 1].upgradedDate = date
        add(to: &chain, product: product, from: date, reason: .purchase)
    }

    private mutating func resubscribe(_ chain: inout [Transaction]) {
        guard let last = chain.last, let end = last.expiresDate else { return }
        let date = end + random.within(Moment.day..<(40 * Moment.day))
        let offer: Offer? = random.chance(percent: 50) ? .winBack : nil
        add(to: &chain, product: last.product, from: date, reason: .purchase, offer: offer)
    }

    private func add(
        to chain: inout [Transaction],
        product: Product,
        from start: Int64,
        reason: Transaction.Reason,
        offer: Offer? = nil
    ) {
        guard let first = chain.first, let period = product.period else { return }
        let id = ids.id(
            customer: customer.identity.index,
            position: customer.transactions.count + chain.count
        )
        var next = Transaction(
            id: id,
            originalId: first.originalId,
            product: product,
            purchaseDate: start,
            originalPurchaseDate: first.originalPurchaseDate
        )
        next.reason = reason
        next.expiresDate = start + period.milliseconds
        next.webOrderLineItemId = ids.lineItem(of: id)
        next.isFamilyShared = first.isFamilyShared
        next.offer = offer
        next.price = price(of: product, offer: offer)
        next.billingPlanType = product.period == .year ? "BILLED_UPFRONT" : nil
        next.previousOriginalId = first.previousOriginalId
        chain.append(next)
    }

    /// A random end of the last period: 60% are in the future, the others within the last 300 days.
    ///
    /// One customer in eight has an end within the last 30 days, so that also a small world has subscriptions in their
    /// grace period and in billing retry.
    mutating func lastDay(period: Period) -> Int64 {
        guard !random.chance(percent: 60) else { return now + random.within(Moment.hour..<period.milliseconds) }
        let age = random.within(Moment.day..<(300 * Moment.day))
        return now - (customer.identity.index % 8 == 3 ? age % (30 * Moment.day) : age)
    }

    /// Moves the chain so that its last period ends at `end`, refunds one transaction in 25% of the chains, and adds it.
    mutating func append(_ chain: [Transaction], endingAt end: Int64) {
        guard let last = chain.last, let lastEnd = last.expiresDate else { return }
        // The last purchase must be in the past, even when its period is a short trial.
        let shift = min(end - lastEnd, now - last.purchaseDate - Moment.hour)
        var placed = chain.map { $0.moved(by: shift) }
        if random.chance(percent: 25) {
            let index = random.below(placed.count)
            let refund = refund(after: placed[index].purchaseDate, isFamilyShared: placed[index].isFamilyShared)
            placed[index].revocation = refund
            if let refund {
                placed[index].advancedCommerce?.refund(at: refund.date, prorated: refund.type == .prorated)
            }
        }
        customer.transactions += placed
    }
}

extension Transaction {
    fileprivate func moved(by shift: Int64) -> Transaction {
        var moved = self
        moved.purchaseDate += shift
        moved.originalPurchaseDate += shift
        moved.expiresDate = expiresDate.map { $0 + shift }
        moved.upgradedDate = upgradedDate.map { $0 + shift }
        moved.commitment?.expiresDate += shift
        return moved
    }
}
