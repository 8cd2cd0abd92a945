extension Route {
    /// Get App Transaction Info: the app transaction of one customer.
    static let appTransaction = Route(
        "appTransaction",
        .get,
        "/inApps/v1/transactions/appTransactions/{anyTransactionId}",
        requestsPerSecond: 50
    ) { request, context throws(APIError) in
        let (customer, _) = try context.history(of: try request.checkedTransactionId)
        guard let found = context.world.appTransaction(of: customer) else { throw .appTransactionDoesNotExist }
        return SimulatedAnswer(
            records: [.appTransaction(found, in: context.world.app, now: context.now)]
        ) { signed, json in
            if let jws = signed.first { json.member("signedAppTransactionInfo", jws) }
        }
    }
}
