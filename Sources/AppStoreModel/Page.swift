package import StrictJSON

/// One page of an answer from Apple, not yet verified.
package struct Page: Equatable, Sendable {
    package var records: [PageRecord]
    /// The `revision` or `paginationToken` for the next page.
    package var cursor: String?
    package var hasMore: Bool
    /// The response's `bundleId` and `environment`; only transaction history has them.
    package var bundleId: String?
    package var environment: String?
    /// Raw value of the answer's `Date` header.
    package var date: String?

    package init(
        records: [PageRecord],
        cursor: String?,
        hasMore: Bool,
        bundleId: String? = nil,
        environment: String? = nil,
        date: String? = nil
    ) {
        self.records = records
        self.cursor = cursor
        self.hasMore = hasMore
        self.bundleId = bundleId
        self.environment = environment
        self.date = date
    }
}

/// One record of a page.
package enum PageRecord: Equatable, Sendable {
    /// A signed transaction.
    case transaction(jws: String)
    /// A signed transaction that refund history returned.
    case refund(jws: String)
    /// A signed notification, and Apple's attempts to deliver it.
    case notification(jws: String, sendAttempts: [JSONElement])
    /// A signed app transaction.
    case appTransaction(jws: String)
    /// A subscription with its status, which Apple does not sign, and its signed records.
    case subscriptionStatus(SubscriptionStatusItem)
    /// The result of an order lookup: whether the order is valid, which Apple does not sign, and its signed transactions.
    case order(isValid: Bool, transactions: [String])
    /// A group of the listed customer.
    case customerGroup(CustomerGroupItem)
    /// A member of the requested group.
    case groupMember(appTransactionId: String)
    /// The seats of the requested subscription.
    case seatInfo(SeatInfoItem)
    /// An element of an unsigned answer that is not as documented, as JSON text, and the rule that it breaks.
    case unusableAnswer(String, reason: String)
    /// An element that is not as documented, as JSON text.
    case unreadable(String)
}
