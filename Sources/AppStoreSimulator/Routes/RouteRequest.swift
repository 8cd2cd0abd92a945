import AppStoreModel

/// A request that belongs to a route.
struct RouteRequest: Sendable {
    let route: Route
    /// The path parameters by name, unchecked.
    let parameters: [String: String]
    /// The part of the URL after the question mark, percent-encoded.
    let queryText: String?
    /// The value of the `Authorization` header.
    let authorization: String?
    /// Empty for GET.
    let body: [UInt8]

    /// The path parameter that is a transaction ID, unchecked; `nil` for routes without one.
    ///
    /// Its name says which IDs the route takes: `transactionId`, `originalTransactionId`, or `anyTransactionId`, which also
    /// takes app transaction IDs. Fault rules and the arrival log name requests by it.
    var transactionId: String? { parameters.transactionId }

    /// The path parameter `orderId`, unchecked; `nil` for routes without one.
    var orderId: String? { parameters["orderId"] }

    /// The path parameter that is a transaction ID.
    ///
    /// Throws ``APIError/transactionId`` when it is not one.
    var checkedTransactionId: TransactionID {
        get throws(APIError) {
            guard let id = transactionId.flatMap({ TransactionID($0) }) else { throw .transactionId }
            return id
        }
    }

    /// Throws ``APIError/badRequest`` when the query cannot be decoded.
    var query: QueryItems {
        get throws(APIError) { try QueryItems(queryText) }
    }
}

extension [String: String] {
    /// The path parameter that is a transaction ID, by any of its names.
    var transactionId: String? { self["transactionId"] ?? self["originalTransactionId"] ?? self["anyTransactionId"] }
}
