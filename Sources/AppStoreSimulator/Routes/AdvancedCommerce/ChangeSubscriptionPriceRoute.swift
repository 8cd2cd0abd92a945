extension Route {
    /// Change Subscription Price: new prices of items from the next renewal on.
    ///
    /// Apple lists no 4000097 for it. A repeat after an increase was communicated is 4000205.
    static let changeSubscriptionPrice = Route.advancedCommerce(
        "changeSubscriptionPrice",
        "subscription/changePrice",
        requestsPerSecond: 50,
        members: ["currency", "items"],
        refusesRepeats: false
    ) { call, world throws(APIError) in
        let prices = try NewPrices(call.body)
        let (purchase, commerce) = try world.activeCommerce(call, inactive: .subscriptionNotEligible)
        let storefront = world.customers[purchase.customer].identity.storefront
        guard prices.currency == nil || prices.currency == storefront.currency else { throw .invalidCurrency }
        let date = world.moment(for: call.arrival)
        guard purchase.renewal?.state.renewsAutomatically == true,
            let end = purchase.transaction.expiresDate, end - date >= Moment.day
        else { throw .subscriptionNotEligible }
        var items = commerce.nextContents.items
        for change in prices.items {
            guard let place = items.firstIndex(where: { $0.sku == change.sku }) else { throw .skuDoesNotRenew }
            guard items[place].offer == nil else { throw .subscriptionNotEligible }
            guard items[place].increase?.isCommunicated != true else { throw .alreadyCommunicated }
            guard change.price > items[place].price else {
                items[place].price = change.price
                items[place].increase = nil
                continue
            }
            guard storefront.code != "IND" else { throw .noIncreaseInIndia }
            let isSecond = items[place].increasedDate.map { date - $0 < Period.year.milliseconds } ?? false
            let needsConsent =
                isSecond
                || storefront.needsConsent(
                    to: change.price,
                    from: items[place].price,
                    isYearly: commerce.period == Period.year.text
                )
            items[place].increase = AdvancedCommerce.PriceIncrease(
                price: change.price,
                status: needsConsent ? "PENDING" : "SCHEDULED",
                dependents: change.dependents
            )
        }
        let changed = world.change(purchase, by: call) { $0?.nextContents.items = items }
        let open = OpenPriceIncrease(customer: purchase.customer, position: purchase.position)
        world.openPriceIncreases.removeAll { $0 == open }
        if items.contains(where: { $0.increase != nil }) { world.openPriceIncreases.append(open) }
        let kind = NotificationKind("PRICE_CHANGE", about: .advancedSubscription(.active))
        let change = world.record(kind, customer: purchase.customer, position: purchase.position)
        return CommerceResult(purchase: changed, changes: [change])
    }
}

extension Storefront {
    /// Whether a customer must agree to the first price increase within a year: more than a half, and more than 5 US dollars or 50 a year.
    ///
    /// Source: Handling subscription price changes, read 2026-11.
    fileprivate func needsConsent(to price: Int64, from old: Int64, isYearly: Bool) -> Bool {
        let rise = price - old
        return rise * 2 > old && rise > self.price(cents: isYearly ? 5_000 : 500)
    }
}

/// The body of the call.
///
/// Source: SubscriptionPriceChangeRequest, read 2026-11.
private struct NewPrices: Sendable {
    struct Item: Sendable {
        let sku: String
        let price: Int64
        let dependents: [String]
    }

    let currency: String?
    let items: [Item]

    init(_ body: RequestBody) throws(APIError) {
        currency = try body.code("currency", or: .invalidCurrency)
        let members: Set = ["SKU", "price", "dependentSKUs"]
        guard let found = try body.bodies("items", members: members, or: .malformedPayload) else { throw .nullItems }
        guard !found.isEmpty else { throw .malformedPayload }
        var items: [Item] = []
        for item in found {
            let sku = try item.sku()
            let price = try item.integer("price", in: .min ... .max, or: .malformedPayload)
            guard price >= 0 else { throw .negativePrice }
            guard !items.contains(where: { $0.sku == sku }) else { throw .repeatedItem }
            let dependents = try item.texts("dependentSKUs", or: .malformedPayload) ?? []
            items.append(Item(sku: sku, price: price, dependents: dependents))
        }
        let dependents = items.flatMap(\.dependents)
        guard Set(dependents).count == dependents.count else { throw .sharedDependents }
        guard !items.contains(where: { !$0.dependents.isEmpty && dependents.contains($0.sku) }) else {
            throw .chainedDependents
        }
        self.items = items
    }
}
