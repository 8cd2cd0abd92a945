import AppStoreModel

extension Route {
    /// Get Transaction Info: one transaction by its ID.
    static let transactionInfo = Route(
        "transactionInfo",
        .get,
        "/inApps/v1/transactions/{transactionId}",
        requestsPerSecond: 50
    ) { request, context throws(APIError) in
        let id = try request.checkedTransactionId
        guard !context.world.isAppTransaction(id) else { throw .appTransactionIdNotSupported }
        let history = try context.history(of: id)
        guard let found = history.transactions.first(where: { String($0.transaction.id) == id.text }) else {
            throw .transactionNotFound
        }
        return SimulatedAnswer(records: [.transaction(found, in: context.world.app, now: context.now)]) {
            signed,
            json in
            if let jws = signed.first { json.member("signedTransactionInfo", jws) }
        }
    }
}
