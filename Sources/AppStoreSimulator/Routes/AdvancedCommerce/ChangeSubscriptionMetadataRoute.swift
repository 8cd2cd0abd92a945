extension Route {
    /// Change Subscription Metadata: new SKUs, names and descriptions, at once or from the next period on.
    static let changeSubscriptionMetadata = Route.advancedCommerce(
        "changeSubscriptionMetadata",
        "subscription/changeMetadata",
        requestsPerSecond: 50,
        members: ["descriptors", "items", "taxCode"]
    ) { call, world throws(APIError) in
        let metadata = try Metadata(call.body)
        let (purchase, commerce) = try world.activeCommerce(call)
        let owned = Set((commerce.items + commerce.nextContents.items).map(\.sku))
        guard metadata.items.allSatisfy({ owned.contains($0.currentSKU) }) else { throw .invalidProduct }
        let changed = world.change(purchase, by: call) { commerce in
            if var changing = commerce {
                metadata.apply(to: &changing)
                commerce = changing
            }
        }
        let kind = NotificationKind("METADATA_UPDATE", about: .advancedSubscription(.active))
        let change = world.record(kind, customer: purchase.customer, position: purchase.position)
        return CommerceResult(purchase: changed, changes: [change])
    }
}

/// The body of the call.
///
/// Source: SubscriptionChangeMetadataRequest, read 2026-11.
private struct Metadata: Sendable {
    struct Change: Sendable {
        let name: String?
        let description: String?
        let isImmediate: Bool

        /// Throws the error of the first member that is not valid.
        init(_ body: RequestBody) throws(APIError) {
            name = body.has("displayName") ? try body.displayName() : nil
            description = body.has("description") ? try body.description() : nil
            guard body.has("effective") else { throw .nullEffective }
            switch try body.text("effective", or: .malformedPayload) {
            case "IMMEDIATELY": isImmediate = true
            case "NEXT_BILL_CYCLE": isImmediate = false
            default: throw .malformedPayload
            }
        }
    }

    struct Item: Sendable {
        let currentSKU: String
        let sku: String?
        let change: Change
    }

    let descriptors: Change?
    let items: [Item]
    private let taxCode: String?

    init(_ body: RequestBody) throws(APIError) {
        let members: Set = ["displayName", "description", "effective"]
        descriptors =
            if let found = try body.body("descriptors", members: members, or: .malformedPayload) {
                try Change(found)
            } else {
                nil
            }
        if let descriptors, descriptors.name == nil, descriptors.description == nil {
            throw .displayNameOrDescription
        }
        let itemMembers = members.union(["currentSKU", "SKU"])
        let found = try body.bodies("items", members: itemMembers, or: .malformedPayload)
        guard found?.isEmpty != true else { throw .atLeastOneItem }
        var items: [Item] = []
        for item in found ?? [] {
            let current = try item.sku("currentSKU", missing: .malformedPayload)
            let sku = item.has("SKU") ? try item.sku() : nil
            let change = try Change(item)
            guard sku != nil || change.name != nil || change.description != nil else { throw .displayNameOrDescription }
            guard !items.contains(where: { $0.currentSKU == current }) else { throw .invalidProductChanges }
            items.append(Item(currentSKU: current, sku: sku, change: change))
        }
        self.items = items
        taxCode = body.has("taxCode") ? try body.taxCode() : nil
    }

    /// What takes effect at once changes the present period and the next one.
    func apply(to commerce: inout AdvancedCommerce) {
        var next = commerce.nextContents
        if let descriptors {
            next.name = descriptors.name ?? next.name
            next.description = descriptors.description ?? next.description
            if descriptors.isImmediate {
                commerce.name = descriptors.name ?? commerce.name
                commerce.description = descriptors.description ?? commerce.description
            }
        }
        for item in items {
            item.apply(to: &next.items)
            if item.change.isImmediate { item.apply(to: &commerce.items) }
        }
        if let taxCode {
            next.taxCode = taxCode
            commerce.taxCode = taxCode
        }
        commerce.next = next
    }
}

extension Metadata.Item {
    fileprivate func apply(to items: inout [AdvancedCommerce.Item]) {
        for place in items.indices where items[place].sku == currentSKU {
            items[place].sku = sku ?? items[place].sku
            items[place].name = change.name ?? items[place].name
            items[place].description = change.description ?? items[place].description
        }
    }
}
