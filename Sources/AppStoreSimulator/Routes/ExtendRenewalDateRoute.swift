import AppStoreModel

extension Route {
    /// Extend a Subscription Renewal Date: makes the current period of one subscription longer.
    static let extendRenewalDate = Route(
        "extendRenewalDate",
        .put,
        "/inApps/v1/subscriptions/extend/{originalTransactionId}",
        requestsPerSecond: 20,
        action: { request, world throws(APIError) in
            let id = try request.transactionId(or: .originalTransactionId)
            let terms = try ExtensionTerms(RequestBody(request.body, members: ExtensionTerms.members))
            guard let purchase = world.purchase(originalId: id) else { throw .originalTransactionNotFound }
            if let answer = firstAnswer(to: terms.requestIdentifier, for: purchase) {
                world.actions.record(request, requestIdentifier: terms.requestIdentifier, isApplied: false)
                return ActionResult(answer: answer, isRepeat: true)
            }
            let date = world.moment(for: request.date)
            let transaction = try world.extensibleTransaction(of: purchase, at: date)
            world.now = date
            guard
                let (changes, effectiveDate) = world.extend(
                    transaction,
                    ofCustomer: purchase.customer,
                    by: terms.days,
                    requestIdentifier: terms.requestIdentifier
                )
            else { throw .extensionIneligible }
            world.actions.record(request, requestIdentifier: terms.requestIdentifier, isApplied: true)
            return ActionResult(answer: extended(transaction, to: effectiveDate), changes: changes)
        }
    )

    /// The answer to the request with this identifier; `nil` when none has extended the subscription.
    private static func firstAnswer(to requestIdentifier: String, for purchase: Purchase) -> SimulatedAnswer? {
        for transaction in purchase.transactions {
            for known in transaction.extensions where known.requestIdentifier == requestIdentifier {
                return extended(transaction, to: known.effectiveDate)
            }
        }
        return nil
    }

    private static func extended(_ transaction: Transaction, to date: Int64) -> SimulatedAnswer {
        SimulatedAnswer { json in
            json.member("originalTransactionId", String(transaction.originalId))
            if let item = transaction.webOrderLineItemId { json.member("webOrderLineItemId", String(item)) }
            json.member("success", true)
            json.member("effectiveDate", date)
        }
    }
}
