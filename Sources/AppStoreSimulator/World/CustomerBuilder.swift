import AppStoreModel

/// Generates the purchases of one customer.
struct CustomerBuilder {
    var customer: Customer
    var random: SplitMix64
    let ids: IDSpace
    /// All purchases are before this moment.
    ///
    /// Subscription periods can end later.
    let now: Int64

    /// - `storefront`: The customer's; `nil` for one that the seed determines.
    init(index: Int, parameters: WorldParameters, storefront: Storefront? = nil) {
        customer = Customer(
            identity: CustomerIdentity(index: index, seed: parameters.seed, storefront: storefront)
        )
        random = SplitMix64(seed: parameters.seed, path: 4, UInt64(index))
        ids = IDSpace(parameters)
        now = parameters.anchor.rawValue
    }

    /// Adds purchases until there are `size` transactions.
    mutating func fill(to size: Int) {
        // The kind of the first chain depends on the customer's index, so that a hundred customers have all kinds.
        var kind = customer.identity.index
        while customer.transactions.count < size {
            addChain(kind: kind, atMost: size - customer.transactions.count)
            kind = random.below(20)
        }
    }

    private mutating func addChain(kind: Int, atMost limit: Int) {
        switch kind % 10 {
        case 0, 1, 2, 3:
            addSubscription(to: random.pick(Product.subscriptions), atMost: limit, isFamilyShared: false)
        case 4:
            addSubscription(to: random.pick(Product.subscriptions), atMost: limit, isFamilyShared: true)
        case 5:
            addCommitment(atMost: limit)
        case 6:
            kind % 20 == 6 ? addAdvancedSubscription(atMost: limit) : addAdvancedCharge()
        default:
            addOneTimePurchase(of: random.pick(Product.oneTime))
        }
    }

    /// The ID of the transaction that is added next.
    var nextID: UInt64 {
        ids.id(customer: customer.identity.index, position: customer.transactions.count)
    }

    func price(of product: Product, offer: Offer? = nil) -> Int64 {
        let full = customer.identity.storefront.price(cents: product.cents)
        guard let offer else { return full }
        return full * offer.percentPaid / 100
    }

    /// A full or prorated refund within 20 days after `purchase`, or `nil` when its date is not in the past.
    mutating func refund(after purchase: Int64, isFamilyShared: Bool = false) -> Transaction.Revocation? {
        let date = purchase + random.within(Moment.hour..<(20 * Moment.day))
        let isProrated = random.chance(percent: 40)
        let percentage = isProrated ? random.within(1_000..<100_000) : 100_000
        let reason = Int64(random.below(2))
        guard date < now else { return nil }
        return isFamilyShared
            ? Transaction.Revocation(date: date, reason: 0, type: .family)
            : Transaction.Revocation(
                date: date,
                reason: reason,
                type: isProrated ? .prorated : .full,
                percentage: percentage
            )
    }
}
