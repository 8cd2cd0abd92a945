/// A subscription whose price increase the customer has not answered.
struct OpenPriceIncrease: Sendable, Equatable {
    let customer: Int
    /// The index of the transaction among the customer's.
    let position: Int
}

/// What a customer does about a price increase that Apple has communicated.
private enum PriceIncreaseResponse {
    /// Consents, or has nothing to consent to.
    case accepts
    /// Turns automatic renewal off.
    case cancels
    /// Does nothing, so an increase that needs consent stays `PENDING`.
    case ignores
}

extension World {
    /// Tells customers of the price increases that the app's server has requested, and lets them answer.
    ///
    /// An increase that needs no consent is `ACCEPTED` when Apple has informed the customer. Of the others, three of
    /// four customers accept, one of eight turns automatic renewal off, and one of eight does not answer; the seed
    /// determines who. All answers have one date: they are about different transactions, and thousands of dates would
    /// be in the future.
    ///
    /// Source: App Store Server Notifications, notificationType, the table of price increases, read 2026-11.
    ///
    /// - `date`: Of the answers, in milliseconds since 1970.
    mutating func answerPriceIncreases(from date: Int64) -> [WorldChange] {
        let open = openPriceIncreases
        guard !open.isEmpty else { return [] }
        openPriceIncreases = []
        now = moment(for: date)
        return open.compactMap { answer($0) }
    }

    private mutating func answer(_ increase: OpenPriceIncrease) -> WorldChange? {
        var transaction = customers[increase.customer].transactions[increase.position]
        guard transaction.revocation == nil, transaction.cancelledDate == nil,
            var items = transaction.advancedCommerce?.nextContents.items
        else { return nil }
        switch response(to: items, of: transaction) {
        case .cancels:
            customers[increase.customer].transactions[increase.position].cancelledDate = now
            return record(.automaticRenewalOff, customer: increase.customer, position: increase.position)
        case .ignores:
            return record(
                NotificationKind("PRICE_INCREASE", "PENDING", about: .subscription(.active)),
                customer: increase.customer,
                position: increase.position,
                isChanged: false
            )
        case .accepts:
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

    private func response(to items: [AdvancedCommerce.Item], of transaction: Transaction) -> PriceIncreaseResponse {
        var random = SplitMix64(seed: parameters.seed, path: 15, transaction.id)
        guard items.contains(where: { $0.increase?.status == "PENDING" }), !random.chance(percent: 75) else {
            return .accepts
        }
        return random.chance(percent: 50) ? .cancels : .ignores
    }
}
