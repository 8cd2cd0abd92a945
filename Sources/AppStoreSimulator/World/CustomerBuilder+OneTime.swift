extension CustomerBuilder {
    mutating func addOneTimePurchase(of product: Product) {
        addOneTimePurchase(of: product, at: now - random.within(Moment.hour..<(900 * Moment.day)))
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
