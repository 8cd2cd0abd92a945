extension CustomerBuilder {
    mutating func addOneTimePurchase(of product: Product) {
        let date = now - random.within(Moment.hour..<(900 * Moment.day))
        guard let last = customer.transactions.last, last.canBeBoughtWithAnother else {
            return addOneTimePurchase(of: product, at: date)
        }
        // Twenty seconds after the last purchase, in the same order.
        addOneTimePurchase(of: product, at: last.purchaseDate + 20_000)
        customer.transactions[customer.transactions.count - 1].boughtWith = last.id
    }

    /// Coins, levels and passes: one transaction, sometimes refunded.
    mutating func addOneTimePurchase(of product: Product, at date: Int64) {
        let id = nextID
        var purchase = Transaction(
            id: id,
            originalId: id,
            product: product,
            purchaseDate: date,
            originalPurchaseDate: date
        )
        if product.kind == .consumable { purchase.quantity = 1 + Int64(random.below(3)) }
        if random.chance(percent: 10) { purchase.offer = .oneTimeCode }
        purchase.price = price(of: product, offer: purchase.offer) * purchase.quantity
        if random.chance(percent: 12) { purchase.revocation = refund(after: date) }
        customer.transactions.append(purchase)
    }
}

extension Transaction {
    /// Some orders have two one-time purchases, none has more.
    fileprivate var canBeBoughtWithAnother: Bool {
        product.kind != .autoRenewable && advancedCommerce == nil && boughtWith == nil && id % 3 == 0
    }
}
