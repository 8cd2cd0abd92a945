/// The contents of an Advanced Commerce purchase: the app's own items under Apple's generic product.
struct AdvancedCommerce: Sendable, Equatable {
    struct Item: Sendable, Equatable {
        let sku: String
        let name: String
        let description: String
        let price: Int64
        var offer: Offer?
        var refunds: [Refund] = []
        var revocationDate: Int64?
    }

    struct Offer: Sendable, Equatable {
        let period: String
        let periodCount: Int64
        let price: Int64
        let reason: String
    }

    struct Refund: Sendable, Equatable {
        let amount: Int64
        let date: Int64
        let reason: String
        let type: String
    }

    let requestReferenceId: String
    let consistencyToken: String
    /// `nil` for a one-time charge.
    let period: String?
    let name: String
    let description: String
    let taxCode: String
    /// In percent.
    let taxPercent: Int64
    var items: [Item]

    var taxExclusivePrice: Int64 { items.reduce(0) { $0 + $1.price } }
    var estimatedTax: Int64 { taxExclusivePrice * taxPercent / 100 }
    var price: Int64 { taxExclusivePrice + estimatedTax }

    mutating func removeRefunds() {
        for index in items.indices {
            items[index].refunds = []
            items[index].revocationDate = nil
        }
    }

    /// Refunds the last item in one amount, or in two when the refund is prorated.
    mutating func refund(at date: Int64, prorated: Bool) {
        guard let last = items.indices.last else { return }
        let price = items[last].price
        items[last].revocationDate = date
        items[last].refunds =
            prorated
            ? [
                Refund(amount: price / 4, date: date - Moment.hour, reason: "LEGAL", type: "CUSTOM"),
                Refund(amount: price / 2, date: date, reason: "UNSATISFIED_WITH_PURCHASE", type: "PRORATED"),
            ]
            : [Refund(amount: price, date: date, reason: "FULFILLMENT_ISSUE", type: "FULL")]
    }
}
