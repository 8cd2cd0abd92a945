package import AppStoreModel

/// A customer's request for a refund, for which Apple sent CONSUMPTION_REQUEST, with what the ledger knows of the purchase.
package struct RefundRequest: Equatable, Sendable {
    package let transactionId: String
    package let requestedAt: UnixMilliseconds
    /// Apple's `consumptionRequestReason`.
    package let reason: String?
    package let productId: String?
    /// Apple's `type`, such as `Consumable`; `nil` if the ledger does not have the transaction.
    package let type: String?
    /// ISO 3166-1 alpha-3.
    package let storefront: String?
    package let priceMilliunits: Int64?
    /// ISO 4217.
    package let currency: String?
    /// Whole days from the purchase to the request.
    package let daysSincePurchase: Int64?
    /// The customer's purchases that were refunded before the request.
    package let earlierRefunds: Int64
    package let hasAdvancedCommerce: Bool
    /// Apple's `inAppOwnershipType`.
    package let ownership: String?
    /// The IDs by which the user's own data can name the customer.
    package let customerIDs: [CustomerIDColumn: String]
    package let outcome: Outcome

    /// What Apple has decided so far.
    package enum Outcome: String, CaseIterable, Sendable {
        case refunded, declined
        /// Refunded, and the refund was reversed.
        case reversed
        case pending
    }

    package init(
        transactionId: String,
        requestedAt: UnixMilliseconds,
        reason: String? = nil,
        productId: String? = nil,
        type: String? = nil,
        storefront: String? = nil,
        priceMilliunits: Int64? = nil,
        currency: String? = nil,
        daysSincePurchase: Int64? = nil,
        earlierRefunds: Int64 = 0,
        hasAdvancedCommerce: Bool = false,
        ownership: String? = nil,
        customerIDs: [CustomerIDColumn: String] = [:],
        outcome: Outcome = .pending
    ) {
        self.transactionId = transactionId
        self.requestedAt = requestedAt
        self.reason = reason
        self.productId = productId
        self.type = type
        self.storefront = storefront
        self.priceMilliunits = priceMilliunits
        self.currency = currency
        self.daysSincePurchase = daysSincePurchase
        self.earlierRefunds = earlierRefunds
        self.hasAdvancedCommerce = hasAdvancedCommerce
        self.ownership = ownership
        self.customerIDs = customerIDs
        self.outcome = outcome
    }
}

/// A column of the user's own data that names customers.
package enum CustomerIDColumn: String, CaseIterable, Sendable {
    case appAccountToken = "app_account_token"
    case appTransactionId = "app_transaction_id"
    case originalTransactionId = "original_transaction_id"
    case transactionId = "transaction_id"

    /// The names as the rest of a sentence.
    package static let list =
        allCases.dropLast().map(\.rawValue).joined(separator: ", ") + " or " + transactionId.rawValue
}
