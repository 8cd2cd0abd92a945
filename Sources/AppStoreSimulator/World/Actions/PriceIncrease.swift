/// A subscription whose price increase the customer has not answered.
struct OpenPriceIncrease: Sendable, Equatable {
    let customer: Int
    /// The index of the transaction among the customer's.
    let position: Int
}

extension World {
    /// Lets customers answer the price increases that the app's server has requested.
    ///
    /// An increase that needs no consent is accepted when Apple has announced it. Of the others, three of four customers accept; the
    /// rest turn automatic renewal off.
    ///
    /// - `date`: Of the first answer, in milliseconds since 1970.
    mutating func answerPriceIncreases(from date: Int64) -> [WorldChange] {
        let open = openPriceIncreases
        openPriceIncreases = []
        return open.compactMap { increase in
            var transaction = customers[increase.customer].transactions[increase.position]
            guard transaction.revocation == nil, transaction.cancelledDate == nil,
                var items = transaction.advancedCommerce?.nextContents.items
            else { return nil }
            now = moment(for: date)
            let needsConsent = items.contains { $0.increase?.status == "PENDING" }
            var random = SplitMix64(seed: parameters.seed, path: 15, transaction.id)
            guard !needsConsent || random.chance(percent: 75) else {
                customers[increase.customer].transactions[increase.position].cancelledDate = now
                return record(.automaticRenewalOff, customer: increase.customer, position: increase.position)
            }
            for place in items.indices { items[place].increase?.status = "ACCEPTED" }
            transaction.earlierCommerce.append(EarlierCommerce(date: now, commerce: transaction.advancedCommerce))
            transaction.advancedCommerce?.nextContents.items = items
            customers[increase.customer].transactions[increase.position] = transaction
            return record(
                NotificationKind("PRICE_INCREASE", "ACCEPTED", about: .subscription(.active)),
                customer: increase.customer,
                position: increase.position
            )
        }
    }
}
