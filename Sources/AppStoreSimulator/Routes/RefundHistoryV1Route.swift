import AppStoreModel

extension Route {
    /// Get Refund History V1, which Apple has deprecated: the customer's latest refunds without pages, the newest first.
    ///
    /// It takes only original transaction IDs.
    static let refundHistoryV1 = Route(
        "refundHistoryV1",
        .get,
        "/inApps/v1/refund/lookup/{originalTransactionId}",
        requestsPerSecond: 10
    ) { request, context throws(APIError) in
        guard let id = request.transactionId.flatMap({ TransactionID($0) }) else { throw .originalTransactionId }
        guard let (_, transactions) = context.world.history(of: id),
            // The store also knows the ID of a customer who has bought nothing.
            transactions.isEmpty || transactions.contains(where: { String($0.transaction.originalId) == id.text })
        else { throw .originalTransactionNotFound }
        let refunds = transactions.refunds.suffix(maximumRefunds).reversed()
        let app = context.world.app
        return SimulatedAnswer(
            records: refunds.map { .transaction($0.record, kind: "refund", in: app, now: context.now) }
        ) { signed, json in
            json.member("signedTransactions", signed)
        }
    }

    /// The most refunds in one answer.
    private static let maximumRefunds = 50
}
