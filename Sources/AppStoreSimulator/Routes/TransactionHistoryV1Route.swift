extension Route {
    /// Get Transaction History V1, which Apple has deprecated: version 2 without the consumables that the app has finished.
    ///
    /// Refunded and revoked ones stay in it.
    static let transactionHistoryV1 = Route(
        "transactionHistoryV1",
        .get,
        "/inApps/v1/history/{anyTransactionId}",
        requestsPerSecond: 50
    ) { request, context throws(APIError) in
        try context.transactionHistory(for: request) { transaction in
            transaction.product.kind != .consumable || transaction.revocation != nil || !transaction.isFinished
        }
    }
}
