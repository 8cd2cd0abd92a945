package import StrictJSON

/// One page of an answer of Apple's; nothing in it is verified yet.
package struct Page: Equatable, Sendable {
    package var records: [PageRecord]
    /// `revision` or `paginationToken`; what the next page is asked with.
    package var cursor: String?
    package var hasMore: Bool
    /// The response's own `bundleId` and `environment`; transaction history has them, the others do not.
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
    /// A signed notification and how often Apple tried to deliver it.
    case notification(jws: String, sendAttempts: [JSONElement])
    /// An element that is not what the documentation promises, as JSON text.
    case unreadable(String)
}
