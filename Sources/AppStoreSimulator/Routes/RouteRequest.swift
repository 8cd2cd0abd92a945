import AppStoreModel

/// A request that belongs to a route.
struct RouteRequest: Sendable {
    let route: Route
    let path: String
    /// The part of the URL after the question mark, percent-encoded.
    let queryText: String?
    /// The value of the `Authorization` header.
    let authorization: String?
    /// Empty for GET.
    let body: [UInt8]

    /// The path parameter called `transactionId`, unchecked; `nil` for routes without one.
    ///
    /// Fault rules and the arrival log name requests by it.
    var transactionId: String? {
        route.path.parameter == "transactionId" ? route.path.value(in: path) : nil
    }

    /// The path parameter `transactionId`.
    ///
    /// Throws ``APIError/transactionId`` when it is not a transaction ID.
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
