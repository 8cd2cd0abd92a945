extension CustomerBuilder {
    mutating func addAdvancedSubscription(atMost limit: Int) {
        let product = Product.advancedSubscription
        var goods = basket(of: product, period: product.period)
        var chain = firstPurchase(of: product, isFamilyShared: false, offer: nil)
        for _ in 1..<max(1, min(limit, 1 + random.below(12))) {
            renew(&chain, product: product)
        }
        for index in chain.indices {
            chain[index].advancedCommerce = goods
            chain[index].price = goods.price
            goods.items = goods.items.map(\.renewed)
        }
        append(chain, endingAt: lastDay(period: .month))
    }

    /// Adds one active subscription to only the first shelf, without an offer, which renews in 2 to 30 days.
    mutating func addAdvancedSubscriber() {
        let product = Product.advancedSubscription
        var goods = basket(of: product, period: product.period)
        goods.items = [
            AdvancedCommerce.Item(
                sku: "shelf-1",
                name: "Shelf 1",
                description: "\"Once upon a time\", part 1",
                price: price(of: product)
            )
        ]
        var first = firstPurchase(of: product, isFamilyShared: false, offer: nil)[0]
        let end = now + random.within((2 * Moment.day)..<Period.month.milliseconds)
        first.purchaseDate = end - Period.month.milliseconds
        first.originalPurchaseDate = first.purchaseDate
        first.expiresDate = end
        first.advancedCommerce = goods
        first.price = goods.price
        customer.transactions.append(first)
    }

    mutating func addAdvancedCharge() {
        let product = Product.advancedCharge
        let id = nextID
        let date = now - random.within(Moment.hour..<(600 * Moment.day))
        var charge = Transaction(
            id: id,
            originalId: id,
            product: product,
            purchaseDate: date,
            originalPurchaseDate: date
        )
        var goods = basket(of: product, period: nil)
        charge.price = goods.price
        if random.chance(percent: 35), let refund = refund(after: date) {
            goods.refund(at: refund.date, prorated: refund.type == .prorated)
            charge.revocation = refund
        }
        charge.advancedCommerce = goods
        customer.transactions.append(charge)
    }

    private mutating func basket(of product: Product, period: Period?) -> AdvancedCommerce {
        let price = price(of: product)
        let chapters = 1 + random.below(3)
        let storefront = customer.identity.storefront
        // Together the items cost what the product does.
        let later = storefront.roundedDown(price / Int64(chapters))
        let first = price - later * Int64(chapters - 1)
        return AdvancedCommerce(
            requestReferenceId: random.uuid(),
            consistencyToken: random.uuid(),
            period: period?.text,
            name: "Märchenwald",
            description: "Stories, one shelf at a time 📚",
            taxCode: "C003-00-2",
            taxPercent: [7, 19, 0][random.below(3)],
            isTaxIncluded: storefront.code != "USA",
            items: (1...chapters).map { chapter in
                AdvancedCommerce.Item(
                    sku: "shelf-\(chapter)",
                    name: "Shelf \(chapter)",
                    description: "\"Once upon a time\", part \(chapter)",
                    price: chapter == 1 ? first : later,
                    offer: period == nil || chapter > 1
                        ? nil
                        : AdvancedCommerce.Offer(
                            period: "P1M",
                            periodCount: 2,
                            price: storefront.roundedDown(first / 2),
                            reason: random.pick(["ACQUISITION", "WIN_BACK", "RETENTION"]),
                            periodsLeft: 2
                        )
                )
            }
        )
    }
}
