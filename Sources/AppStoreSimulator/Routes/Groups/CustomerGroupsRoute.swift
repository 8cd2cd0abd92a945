extension Route {
    /// Get Customer Groups: the groups of the customer who owns a transaction.
    static let customerGroups = Route(
        "customerGroups",
        .get,
        "/groups/v1/currentGroups/{anyTransactionId}",
        requestsPerSecond: 50,
        isInProduction: false
    ) { request, context throws(APIError) in
        let id = try request.checkedTransactionId
        guard let groups = context.world.groups(of: id) else { throw .transactionNotFound }
        return SimulatedAnswer { json in
            json.member("groups", objects: groups) { group, json in
                json.member("groupId", group.id)
                json.member("groupType", group.kind.rawValue)
                guard group.kind == .organization else { return }
                json.member("roles", objects: Product.subscriptions.prefix(2).enumerated()) { product, json in
                    json.member("productId", product.element.id)
                    json.member("role", product.offset == 0 ? "ADMIN" : "NONE")
                }
            }
        }
    }
}
