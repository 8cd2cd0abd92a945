extension Route {
    /// Migrate a Subscription to Advanced Commerce API: an ordinary subscription gets items of the app's own catalogue.
    static let migrateSubscription = Route.advancedCommerce(
        "migrateSubscription",
        "subscription/migrate",
        requestsPerSecond: 50,
        members: ["descriptors", "items", "renewalItems", "targetProductId", "taxCode"]
    ) { call, world throws(APIError) in
        let target = try MigrationTarget(call.body)
        let purchase = try world.activeSubscription(call)
        guard purchase.transaction.advancedCommerce == nil else { throw .alreadyMigrated }
        guard let renewal = purchase.renewal else { throw .subscriptionDoesNotExist }
        if case .priceIncrease = renewal.state { throw .migrationDuringIncrease }
        guard renewal.changesProduct == (target.renewalItems != nil) else { throw .pendingChangesMismatch }
        let (price, period) = (purchase.transaction.price, purchase.transaction.product.period)
        let changed = world.change(purchase, by: call) { commerce in
            commerce = target.commerce(price: price, period: period?.text)
        }
        let kind = NotificationKind("MIGRATION", about: .advancedSubscription(.active))
        let change = world.record(kind, customer: purchase.customer, position: purchase.position)
        return CommerceResult(purchase: changed, changes: [change])
    }
}

/// The body of the call.
///
/// Source: SubscriptionMigrateRequest, read 2026-11.
private struct MigrationTarget: Sendable {
    struct Item: Sendable {
        let sku: String
        let name: String
        let description: String
    }

    private let name: String
    private let description: String
    private let taxCode: String
    private let items: [Item]
    let renewalItems: [Item]?

    init(_ body: RequestBody) throws(APIError) {
        let members: Set = ["displayName", "description"]
        guard let descriptors = try body.body("descriptors", members: members, or: .malformedPayload) else {
            throw .nullDescriptors
        }
        name = try descriptors.displayName()
        description = try descriptors.description()
        guard let items = try Self.items("items", of: body) else { throw .nullItems }
        self.items = items
        renewalItems = try Self.items("renewalItems", of: body)
        guard body.has("targetProductId") else { throw .nullTargetProductID }
        let product = try body.text("targetProductId", or: .invalidTargetProductID)
        // The only generic product for subscriptions that the simulated app has.
        guard product == Product.advancedSubscription.id else { throw .invalidTargetProductID }
        taxCode = try body.taxCode()
    }

    private static func items(_ key: String, of body: RequestBody) throws(APIError) -> [Item]? {
        let members: Set = ["SKU", "displayName", "description"]
        guard let found = try body.bodies(key, members: members, or: .malformedPayload) else { return nil }
        guard !found.isEmpty else { throw .atLeastOneItem }
        var items: [Item] = []
        for item in found {
            let sku = try item.sku()
            guard !items.contains(where: { $0.sku == sku }) else { throw .invalidSKU }
            items.append(Item(sku: sku, name: try item.displayName(), description: try item.description()))
        }
        return items
    }

    /// The first item has the price that the customer pays; the others are free.
    ///
    /// Apple documents no prices of migrated items.
    func commerce(price: Int64, period: String?) -> AdvancedCommerce {
        func priced(_ items: [Item]) -> [AdvancedCommerce.Item] {
            items.enumerated().map { place, item in
                AdvancedCommerce.Item(
                    sku: item.sku,
                    name: item.name,
                    description: item.description,
                    price: place == 0 ? price : 0
                )
            }
        }
        var commerce = AdvancedCommerce(
            requestReferenceId: "",
            consistencyToken: "",
            period: period,
            name: name,
            description: description,
            taxCode: taxCode,
            taxPercent: 0,
            isTaxIncluded: true,
            items: priced(items)
        )
        if let renewalItems { commerce.nextContents.items = priced(renewalItems) }
        return commerce
    }
}
