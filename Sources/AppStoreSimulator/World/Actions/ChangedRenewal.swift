/// A subscription whose contents change with its next renewal.
private struct ChangedSubscription {
    let customer: Int
    /// The index of its latest transaction among the customer's.
    let position: Int
    /// When the period ends, in milliseconds since 1970.
    let end: Int64
    let id: UInt64
}

extension World {
    /// Ends the periods of `count` subscriptions that the app's server has changed from the next renewal on.
    ///
    /// Those that would renew first come first. A period ends at `date`, earlier than it would: a test cannot wait for a month. The
    /// subscription then renews with the new contents (DID_RENEW). It expires if automatic renewal is off (EXPIRED with VOLUNTARY), and
    /// if the customer has not consented to the price increases of all of its items (EXPIRED with PRICE_INCREASE).
    ///
    /// All of them end at one moment: they are different transactions, and thousands of moments would be in the future.
    ///
    /// - `date`: In milliseconds since 1970.
    mutating func renewChanged(count: Int, from date: Int64) -> [WorldChange] {
        let moment = moment(for: date)
        let due = changedSubscriptions(at: moment).prefix(count)
        guard !due.isEmpty else { return [] }
        now = moment
        return due.flatMap { endPeriod(of: $0) }
    }

    private func changedSubscriptions(at moment: Int64) -> [ChangedSubscription] {
        customers.indices
            .filter { customers[$0].transactions.contains { $0.advancedCommerce?.next != nil } }
            .flatMap { index in
                subscriptions(ofCustomer: index, at: moment).compactMap { event -> ChangedSubscription? in
                    let latest = event.renewal.transaction
                    guard event.renewal.state.status == 1, latest.advancedCommerce?.next != nil,
                        let end = latest.expiresDate,
                        let position = customers[index].transactions.firstIndex(where: { $0.id == latest.id })
                    else { return nil }
                    return ChangedSubscription(customer: index, position: position, end: end, id: latest.id)
                }
            }
            .sorted { ($0.end, $0.id) < ($1.end, $1.id) }
    }

    /// Ends a period at the world's moment.
    private mutating func endPeriod(of subscription: ChangedSubscription) -> [WorldChange] {
        let (customer, position) = (subscription.customer, subscription.position)
        customers[customer].transactions[position].earlyEnd = EarlyEnd(date: now, plannedDate: subscription.end)
        customers[customer].transactions[position].expiresDate = now
        let ended = customers[customer].transactions[position]
        guard ended.cancelledDate == nil else {
            let kind = NotificationKind("EXPIRED", "VOLUNTARY", about: .subscription(.expired(intent: 1)))
            return [record(kind, customer: customer, position: position)]
        }
        let place = customers[customer].transactions.count
        let id = ids.id(customer: customer, position: place)
        guard let next = ended.renewed(as: id, lineItem: ids.lineItem(of: id), at: now) else {
            customers[customer].transactions[position].isPriceRefused = true
            let kind = NotificationKind("EXPIRED", "PRICE_INCREASE", about: .subscription(.expired(intent: 3)))
            return [record(kind, customer: customer, position: position)]
        }
        customers[customer].transactions.append(next)
        let change = WorldChange(
            customer: customer,
            transactionId: String(ended.id),
            position: position,
            date: now
        )
        let kind = NotificationKind("DID_RENEW", about: .advancedSubscription(.active))
        return [change, record(kind, customer: customer, position: place, isNew: true)]
    }
}

extension Transaction {
    /// The transaction of the period that follows; `nil` when the customer has refused the price increases of all items.
    func renewed(as id: UInt64, lineItem: UInt64, at date: Int64) -> Transaction? {
        guard let contents = advancedCommerce?.renewed(as: id, at: date), let length = product.period else {
            return nil
        }
        var next = Transaction(
            id: id,
            originalId: originalId,
            product: product,
            purchaseDate: date,
            originalPurchaseDate: originalPurchaseDate
        )
        next.reason = .renewal
        next.expiresDate = date + length.milliseconds
        next.webOrderLineItemId = lineItem
        next.price = contents.price
        next.billingPlanType = billingPlanType
        next.previousOriginalId = previousOriginalId
        next.accountTokens = accountTokens
        next.advancedCommerce = contents
        return next
    }
}

extension AdvancedCommerce {
    /// The contents of the next period, which begins at `date` (milliseconds since 1970); `nil` when no item is left.
    ///
    /// An item whose price increase the customer has not accepted ends, and so do its dependent SKUs. Source: Change Subscription
    /// Price, Advanced Commerce API, read 2026-11.
    fileprivate func renewed(as id: UInt64, at date: Int64) -> AdvancedCommerce? {
        let contents = nextContents
        let refused = contents.items.filter { $0.increase?.status == "PENDING" }
        let ended = Set(refused.flatMap { [$0.sku] + ($0.increase?.dependents ?? []) })
        var renewed = self
        renewed.next = nil
        renewed.consistencyToken = "0.\(id)"
        renewed.name = contents.name
        renewed.description = contents.description
        renewed.taxCode = contents.taxCode
        renewed.items = contents.items.filter { !ended.contains($0.sku) && $0.revocationDate == nil }.map { item in
            var item = item
            item.refunds = []
            if let increase = item.increase {
                item.price = increase.price
                item.increasedDate = date
            }
            item.increase = nil
            return item
        }
        return renewed.items.isEmpty ? nil : renewed
    }
}
