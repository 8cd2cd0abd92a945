import AppStoreModel

/// Invents one customer's purchases, oldest chains first, until there are as many as asked for.
struct CustomerBuilder {
    var customer: Customer
    var random: SplitMix64
    let ids: IDSpace
    /// Nothing happens at or after this moment, apart from subscriptions that run on.
    let now: Int64

    init(index: Int, parameters: WorldParameters) {
        customer = Customer(identity: CustomerIdentity(index: index, seed: parameters.seed))
        random = SplitMix64(seed: parameters.seed, path: 4, UInt64(index))
        ids = IDSpace(environment: parameters.environment)
        now = parameters.anchor.rawValue
    }

    mutating func fill(to size: Int) {
        // The first chain walks through the kinds from customer to customer, so that a hundred of them have everything.
        var kind = customer.identity.index
        while customer.transactions.count < size {
            addChain(kind: kind, room: size - customer.transactions.count)
            kind = random.below(20)
        }
    }

    private mutating func addChain(kind: Int, room: Int) {
        switch kind % 10 {
        case 0, 1, 2, 3:
            addSubscription(to: random.pick(Product.subscriptions), room: room, isFamilyShared: false)
        case 4:
            addSubscription(to: random.pick(Product.subscriptions), room: room, isFamilyShared: true)
        case 5:
            addCommitment(room: room)
        case 6:
            kind % 20 == 6 ? addAdvancedSubscription(room: room) : addAdvancedCharge()
        default:
            addOneTimePurchase(of: random.pick(Product.oneTime))
        }
    }

    /// The next free ID, which the transaction added next must use.
    var nextID: UInt64 {
        ids.id(customer: customer.identity.index, position: customer.transactions.count)
    }

    func price(of product: Product, offer: Offer? = nil) -> Int64 {
        let full = customer.identity.storefront.price(cents: product.cents)
        guard let offer else { return full }
        return full * offer.percentPaid / 100
    }

    /// A full or prorated refund some days after `purchase`, or `nil` when that is still to come.
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
