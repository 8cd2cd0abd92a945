import AppStoreModel

extension HistoryQuery {
    /// The same query gives the same parameters in the same order, as paging demands.
    ///
    /// Source: Get Transaction History, query parameters, read 2026-11.
    var parameters: QueryParameters {
        [("startDate", startDate.map { String($0.rawValue) }), ("endDate", endDate.map { String($0.rawValue) })]
            + productIds.map { ("productId", $0) }
            + productTypes.map { ("productType", $0.rawValue) }
            + subscriptionGroupIdentifiers.map { ("subscriptionGroupIdentifier", $0) }
            + [
                ("inAppOwnershipType", inAppOwnershipType?.rawValue),
                ("revoked", revoked.map { String($0) }),
                ("sort", sort?.rawValue),
            ]
    }
}
