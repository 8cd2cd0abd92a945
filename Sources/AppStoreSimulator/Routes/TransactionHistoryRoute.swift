import AppStoreModel

extension Route {
    /// Get Transaction History: the transactions of one customer, oldest change first, with filters.
    static let transactionHistory = Route(
        "transactionHistory",
        .get,
        "/inApps/v2/history/{anyTransactionId}",
        requestsPerSecond: 50
    ) { request, context throws(APIError) in
        try context.transactionHistory(for: request) { _ in true }
    }
}

extension AnswerContext {
    /// One page of a customer's transactions that pass the filters of the request.
    ///
    /// - `isIncluded`: Whether this version of the endpoint has the transaction.
    func transactionHistory(
        for request: RouteRequest,
        where isIncluded: (Transaction) -> Bool
    ) throws(APIError) -> SimulatedAnswer {
        let query = try request.query
        let id = try request.checkedTransactionId
        let filter = try TransactionFilter(query)
        let (customer, transactions) = try history(of: id)
        let matching = transactions.filter { isIncluded($0.transaction) && filter.matches($0.transaction) }
        let (records, paging) = try page(
            of: (filter.isDescending ? matching.reversed() : matching).map { ($0.cursorPosition, $0) },
            isDescending: filter.isDescending,
            query: query,
            boundTo: CursorCodec.Binding(text: "\(request.route.name.text)\u{2}\(customer)\u{2}\(filter.text)")
        )
        let app = world.app
        return SimulatedAnswer(
            records: records.map { .transaction($0, in: app, now: now) },
            paging: paging
        ) { signed, json in
            json.member("bundleId", app.bundleId)
            if let id = app.appAppleId { json.member("appAppleId", id) }
            json.member("environment", app.environment.rawValue)
            json.member("signedTransactions", signed)
        }
    }
}

/// The filters of one Get Transaction History request, checked as the documentation says.
private struct TransactionFilter: Sendable {
    let query: HistoryQuery

    /// - Throws: ``APIError`` with the code of the first parameter that is not valid.
    init(_ items: QueryItems) throws(APIError) {
        var query = HistoryQuery()
        query.startDate = try Self.moment(items["startDate"], or: .startDate)
        query.endDate = try Self.moment(items["endDate"], or: .endDate)
        if let start = query.startDate, let end = query.endDate, start >= end { throw .startDateAfterEndDate }
        query.productIds = items.all("productId")
        guard query.productIds.allSatisfy({ !$0.isEmpty }) else { throw .productId }
        query.productTypes = try Self.values(items.all("productType"), or: .productType)
        query.subscriptionGroupIdentifiers = items.all("subscriptionGroupIdentifier")
        guard query.subscriptionGroupIdentifiers.allSatisfy({ !$0.isEmpty }) else { throw .subscriptionGroup }
        query.inAppOwnershipType = try Self.value(items["inAppOwnershipType"], or: .ownershipType)
        query.sort = try Self.value(items["sort"], or: .sort)
        query.revoked = try Self.flag(items["revoked"], or: .revoked)
        // The predecessor of `revoked`; Apple still documents its error.
        if try Self.flag(items["excludeRevoked"], or: .excludeRevoked) == true { query.revoked = false }
        self.query = query
    }

    var isDescending: Bool { query.sort == .descending }

    /// All filters in one text, which the cursor is bound to: they must stay the same from page to page.
    var text: String {
        let dates = [query.startDate, query.endDate].map { $0.map { String($0.rawValue) } ?? "" }
        let lists = [query.productIds, query.productTypes.map(\.rawValue), query.subscriptionGroupIdentifiers]
        let flags = [
            query.inAppOwnershipType?.rawValue ?? "", query.revoked.map { String($0) } ?? "", String(isDescending),
        ]
        let sets = lists.map { Set($0).sorted().joined(separator: "\u{1}") }
        return (dates + sets + flags).joined(separator: "\u{2}")
    }

    /// Whether the transaction passes every filter; `purchaseDate` must be at or after `startDate` and before `endDate`.
    func matches(_ transaction: Transaction) -> Bool {
        if let start = query.startDate, transaction.purchaseDate < start.rawValue { return false }
        if let end = query.endDate, transaction.purchaseDate >= end.rawValue { return false }
        if !query.productIds.isEmpty, !query.productIds.contains(transaction.product.id) { return false }
        if !query.productTypes.isEmpty, !query.productTypes.contains(transaction.product.kind.filter) { return false }
        if !query.subscriptionGroupIdentifiers.isEmpty {
            guard let group = transaction.product.group, query.subscriptionGroupIdentifiers.contains(group) else {
                return false
            }
        }
        let ownership: HistoryQuery.OwnershipType = transaction.isFamilyShared ? .familyShared : .purchased
        if let wanted = query.inAppOwnershipType, wanted != ownership { return false }
        if let revoked = query.revoked, revoked != (transaction.revocation != nil) { return false }
        return true
    }

    private static func moment(_ text: String?, or error: APIError) throws(APIError) -> UnixMilliseconds? {
        guard let text else { return nil }
        guard let value = Int64(text), value >= 0, String(value) == text else { throw error }
        return UnixMilliseconds(rawValue: value)
    }

    private static func values<Value: RawRepresentable<String>>(
        _ texts: [String],
        or error: APIError
    ) throws(APIError) -> [Value] {
        var values: [Value] = []
        for text in texts {
            guard let value = Value(rawValue: text) else { throw error }
            values.append(value)
        }
        return values
    }

    private static func value<Value: RawRepresentable<String>>(
        _ text: String?,
        or error: APIError
    ) throws(APIError) -> Value? {
        let values: [Value] = try values(text.map { [$0] } ?? [], or: error)
        return values.first
    }

    private static func flag(_ text: String?, or error: APIError) throws(APIError) -> Bool? {
        guard let text else { return nil }
        // Apple's Python library sends `True` and `False`.
        guard let value = Bool(text.lowercased()) else { throw error }
        return value
    }
}

extension Product.Kind {
    fileprivate var filter: HistoryQuery.ProductType {
        switch self {
        case .autoRenewable: .autoRenewable
        case .nonRenewing: .nonRenewable
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        }
    }
}
