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
    /// Whether prices and refunds contain the tax, as in all storefronts but those of the United States and Canada.
    ///
    /// Source: `refundAmount` of the Advanced Commerce API, read 2026-11.
    let isTaxIncluded: Bool
    var items: [Item]

    /// The price of the transaction: the sum of the items' prices.
    var price: Int64 { items.reduce(0) { $0 + $1.price } }
    var estimatedTax: Int64 { price * taxPercent / (isTaxIncluded ? 100 + taxPercent : 100) }
    var taxExclusivePrice: Int64 { isTaxIncluded ? price - estimatedTax : price }

    mutating func removeRefunds() {
        for index in items.indices {
            items[index].refunds = []
            items[index].revocationDate = nil
        }
    }

    /// Refunds every item in full or, if the refund is prorated, three quarters of the last item in two amounts.
    mutating func refund(at date: Int64, prorated: Bool) {
        guard prorated, let last = items.indices.last else {
            for index in items.indices {
                items[index].revocationDate = date
                items[index].refunds = [
                    Refund(amount: items[index].price, date: date, reason: "FULFILLMENT_ISSUE", type: "FULL")
                ]
            }
            return
        }
        let price = items[last].price
        items[last].revocationDate = date
        items[last].refunds = [
            Refund(amount: price / 4, date: date - Moment.hour, reason: "LEGAL", type: "CUSTOM"),
            Refund(amount: price / 2, date: date, reason: "UNSATISFIED_WITH_PURCHASE", type: "PRORATED"),
        ]
    }
}
