package import AppStoreModel

/// The condition of a rule: every given key must be true of a request, and each list needs one matching entry.
package struct RefundCondition: Equatable, Sendable {
    package var productTypes: [HistoryQuery.ProductType]?
    package var productIds: [String]?
    package var reasons: [String]?
    package var storefronts: [String]?
    /// Thousandths of a unit by currency; a price in another currency, or an unknown one, does not match.
    package var priceAtMost: [String: Int64]?
    package var earlierRefundsAtMost: Int64?
    package var earlierRefundsAtLeast: Int64?
    package var daysSincePurchaseAtMost: Int64?
    package var daysSincePurchaseAtLeast: Int64?
    package var advancedCommerce: Bool?

    package init() {}

    /// Whether the condition has no key, so that it matches every request.
    package var isEmpty: Bool { self == RefundCondition() }

    package func matches(_ request: RefundRequest) -> Bool {
        isOne(of: productTypes?.map(\.typeOfTransaction), request.type)
            && isOne(of: productIds, request.productId)
            && isOne(of: reasons, request.reason)
            && isOne(of: storefronts, request.storefront)
            && isPriceInRange(of: request)
            && isInRange(request.earlierRefunds, earlierRefundsAtLeast, earlierRefundsAtMost)
            && isInRange(request.daysSincePurchase, daysSincePurchaseAtLeast, daysSincePurchaseAtMost)
            && advancedCommerce.map { $0 == request.hasAdvancedCommerce } ?? true
    }

    private func isOne(of accepted: [String]?, _ value: String?) -> Bool {
        guard let accepted else { return true }
        return value.map(accepted.contains) ?? false
    }

    private func isPriceInRange(of request: RefundRequest) -> Bool {
        guard let priceAtMost else { return true }
        guard let price = request.priceMilliunits, let limit = request.currency.flatMap({ priceAtMost[$0] })
        else { return false }
        return price <= limit
    }

    private func isInRange(_ value: Int64?, _ least: Int64?, _ most: Int64?) -> Bool {
        guard least != nil || most != nil else { return true }
        guard let value else { return false }
        return value >= least ?? .min && value <= most ?? .max
    }
}

extension RefundCondition {
    /// The condition on one line, with the keys of the job file; `every request` without keys.
    package var text: String {
        var parts: [String] = []
        func add(_ key: String, _ values: [String]?) {
            if let values { parts.append("\(key) \(values.joined(separator: " or "))") }
        }
        add("productTypes", productTypes?.map(\.rawValue))
        add("productIds", productIds)
        add("consumptionRequestReasons", reasons)
        add("storefronts", storefronts)
        add(
            "priceAtMost",
            priceAtMost.map { limits in limits.sorted { $0.key < $1.key }.map { $0.value.units + " " + $0.key } }
        )
        add("earlierRefundsAtMost", earlierRefundsAtMost.map { ["\($0)"] })
        add("earlierRefundsAtLeast", earlierRefundsAtLeast.map { ["\($0)"] })
        add("daysSincePurchaseAtMost", daysSincePurchaseAtMost.map { ["\($0)"] })
        add("daysSincePurchaseAtLeast", daysSincePurchaseAtLeast.map { ["\($0)"] })
        add("advancedCommerce", advancedCommerce.map { ["\($0)"] })
        return parts.isEmpty ? "every request" : parts.joined(separator: ", ")
    }
}

extension HistoryQuery.ProductType {
    /// Apple's `type` of a transaction of such a product.
    var typeOfTransaction: String {
        switch self {
        case .autoRenewable: "Auto-Renewable Subscription"
        case .nonRenewable: "Non-Renewing Subscription"
        case .consumable: "Consumable"
        case .nonConsumable: "Non-Consumable"
        }
    }
}

extension Int64 {
    /// Thousandths as a decimal number with at least two places: 4990 is `4.99`.
    fileprivate var units: String {
        let digits = String(self % 1_000 + 1_000).dropFirst()
        return "\(self / 1_000).\(digits.last == "0" ? digits.dropLast() : digits)"
    }
}
