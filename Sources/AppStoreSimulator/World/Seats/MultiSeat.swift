/// The seats of a subscription that a customer bought for a group.
struct MultiSeat: Sendable, Equatable {
    /// Whether the app's server invites the members; otherwise Apple does.
    let isDeveloperManaged: Bool
    let tiers: [Tier]

    struct Tier: Sendable, Equatable {
        /// Of one seat, in milliunits of the storefront's currency.
        let price: Int64
        let quantity: Int64
    }

    var quantity: Int64 { tiers.reduce(0) { $0 + $1.quantity } }
    /// The average of a seat, in milliunits.
    var price: Int64 { tiers.reduce(0) { $0 + $1.price * $1.quantity } / max(1, quantity) }

    /// The JSON of `multiSeatInfo` in a transaction.
    ///
    /// Source: `TransactionMultiSeatInfo`, read 2026-11.
    var transactionInfo: [UInt8] {
        jsonObject {
            $0.member("invitationManagement", isDeveloperManaged ? "DEVELOPER" : "APPLE")
            $0.member("priceTiers", objects: tiers.map(\.json))
        }
    }

    /// The JSON of `multiSeatInfo` in a renewal info.
    ///
    /// Source: `RenewalMultiSeatInfo`, read 2026-11.
    var renewalInfo: [UInt8] {
        jsonObject { $0.member("renewalPriceTiers", objects: tiers.map(\.json)) }
    }
}

extension MultiSeat.Tier {
    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("price", price)
            $0.member("quantity", quantity)
        }
    }
}

extension CustomerBuilder {
    /// Adds one active monthly subscription with five seats at two prices, which renews in 2 to 30 days.
    mutating func addSeatSubscriber(isDeveloperManaged: Bool) {
        let product = Product.subscriptions[0]
        var first = firstPurchase(of: product, isFamilyShared: false, offer: nil)[0]
        let end = now + random.within((2 * Moment.day)..<Period.month.milliseconds)
        let price = price(of: product)
        let seats = MultiSeat(
            isDeveloperManaged: isDeveloperManaged,
            tiers: [.init(price: price, quantity: 3), .init(price: price / 2, quantity: 2)]
        )
        first.purchaseDate = end - Period.month.milliseconds
        first.originalPurchaseDate = first.purchaseDate
        first.expiresDate = end
        first.multiSeat = seats
        first.quantity = seats.quantity
        first.price = seats.price
        customer.transactions.append(first)
    }
}
