import AppStoreModel

extension Route {
    /// Get All Subscription Statuses: the latest transaction, the renewal info and the status of each subscription of a customer.
    static let subscriptionStatuses = Route(
        "subscriptionStatuses",
        .get,
        "/inApps/v1/subscriptions/{anyTransactionId}",
        requestsPerSecond: 50
    ) { request, context throws(APIError) in
        let id = try request.checkedTransactionId
        let wanted = try statuses(in: try request.query)
        let (customer, _) = try context.history(of: id)
        let app = context.world.app
        let groups = Dictionary(
            grouping: context.world.subscriptions(of: customer, at: context.now.rawValue)
                .filter { wanted.isEmpty || wanted.contains($0.status) },
            by: \.group
        ).sorted { $0.key < $1.key }
        let subscriptions = groups.flatMap(\.value)
        return SimulatedAnswer(
            records: subscriptions.flatMap { subscription in
                [
                    AnswerRecord.transaction(subscription.transaction, in: app, now: context.now),
                    AnswerRecord.renewal(subscription, in: app),
                ]
            }
        ) { signed, json in
            json.member("environment", app.environment.rawValue)
            json.member("bundleId", app.bundleId)
            if let id = app.appAppleId { json.member("appAppleId", id) }
            var rest = signed[...]
            json.member("data", objects: groups) { group, json in
                json.member("subscriptionGroupIdentifier", group.key)
                json.member("lastTransactions", objects: group.value) { subscription, json in
                    json.member("originalTransactionId", String(subscription.originalId))
                    json.member("status", subscription.status)
                    if let transaction = rest.popFirst() { json.member("signedTransactionInfo", transaction) }
                    if let renewal = rest.popFirst() { json.member("signedRenewalInfo", renewal) }
                }
            }
        }
    }

    /// The values of the query parameter `status`, which can be repeated; empty when there is none.
    ///
    /// Throws ``APIError/status`` for a value other than 1 to 5.
    private static func statuses(in query: QueryItems) throws(APIError) -> Set<Int64> {
        var statuses: Set<Int64> = []
        for text in query.all("status") {
            guard let status = Int64(text), (1...5).contains(status), String(status) == text else { throw .status }
            statuses.insert(status)
        }
        return statuses
    }
}
