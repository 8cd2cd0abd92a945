/// The contents of an Advanced Commerce purchase: the app's own items under Apple's generic product.
struct AdvancedCommerce: Sendable, Equatable {
    struct Item: Sendable, Equatable {
        var sku: String
        var name: String
        var description: String
        /// Without the offer, in milliunits.
        var price: Int64
        var offer: Offer?
        var refunds: [Refund] = []
        var revocationDate: Int64?
        /// Only of an item of the next period.
        var increase: PriceIncrease?
        /// When the last price increase took effect, in milliseconds since 1970; `nil` when there was none.
        var increasedDate: Int64?

        /// What the customer pays, in milliunits: the price of the offer while there is one.
        ///
        /// Source: the sample of a transaction with an offer in the documentation of the Advanced Commerce API, read 2026-11: items of 9990
        /// and 3990, the second one with an offer of 2990, have the `price` 12980.
        var charged: Int64 { offer?.price ?? price }
        /// What is left of the charge after all refunds, in milliunits.
        var refundable: Int64 { revocationDate == nil ? charged - refunds.reduce(0) { $0 + $1.amount } : 0 }
        /// The item in the next period, in which the offer can be over.
        var renewed: Self {
            var item = self
            item.offer = offer.flatMap(\.renewed)
            return item
        }
    }

    /// A price increase that the app's server has requested.
    struct PriceIncrease: Sendable, Equatable {
        /// In milliunits.
        let price: Int64
        /// `SCHEDULED` before Apple has informed the customer, then `PENDING` while consent is needed, or `ACCEPTED`.
        var status: String
        let dependents: [String]
    }

    /// What the customer sees, and what is paid for, in one period.
    struct Contents: Sendable, Equatable {
        var name: String
        var description: String
        var taxCode: String
        var items: [Item]
    }

    struct Offer: Sendable, Equatable {
        let period: String
        let periodCount: Int64
        /// In milliunits; at most the item's price.
        let price: Int64
        let reason: String
        /// How many periods have the offer from this one on, this one included.
        var periodsLeft: Int64

        /// The offer in the next period; `nil` when this is its last period.
        fileprivate var renewed: Self? {
            guard periodsLeft > 1 else { return nil }
            var offer = self
            offer.periodsLeft -= 1
            return offer
        }
    }

    struct Refund: Sendable, Equatable {
        let amount: Int64
        let date: Int64
        let reason: String
        let type: String
    }

    /// From the last request of the app or of its server.
    var requestReferenceId: String
    /// Changes with every request.
    var consistencyToken: String
    /// `nil` for a one-time charge.
    let period: String?
    var name: String
    var description: String
    var taxCode: String
    /// In percent.
    let taxPercent: Int64
    /// Whether prices and refunds contain the tax, as in all storefronts except the United States and Canada.
    ///
    /// Source: `refundAmount` of the Advanced Commerce API, read 2026-11.
    let isTaxIncluded: Bool
    var items: [Item]
    /// The contents of the next period, if the app's server has changed them; `nil` when they stay.
    var next: Contents?

    /// The contents of the next period.
    var nextContents: Contents {
        get { next ?? Contents(name: name, description: description, taxCode: taxCode, items: items.map(\.renewed)) }
        set { next = newValue }
    }

    /// The price of the transaction: the sum of what the items cost with their offers.
    var price: Int64 { items.reduce(0) { $0 + $1.charged } }
    /// Apple's `priceIncreaseStatus`: 0 while the customer has not consented to an increase that needs it, 1 after
    /// that, and when Apple has communicated an increase that needs no consent; `nil` without a communicated increase.
    var priceIncreaseStatus: Int64? {
        let statuses = Set((next?.items ?? []).compactMap { $0.increase?.status })
        if statuses.contains("PENDING") { return 0 }
        return statuses.contains("ACCEPTED") ? 1 : nil
    }
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
                    Refund(amount: items[index].charged, date: date, reason: "FULFILLMENT_ISSUE", type: "FULL")
                ]
            }
            return
        }
        let price = items[last].charged
        items[last].revocationDate = date
        items[last].refunds = [
            Refund(amount: price / 4, date: date - Moment.hour, reason: "LEGAL", type: "CUSTOM"),
            Refund(amount: price / 2, date: date, reason: "UNSATISFIED_WITH_PURCHASE", type: "PRORATED"),
        ]
    }
}
