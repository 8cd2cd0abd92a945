import AppStoreModel

/// A request that changes the world, with everything that decides how.
struct ActionRequest: Sendable, Equatable {
    let endpoint: EndpointName
    /// The path parameters by name, unchecked.
    let parameters: [String: String]
    let body: [UInt8]
    /// When it arrived, in milliseconds since 1970.
    let date: Int64

    /// The path parameter that is a transaction ID.
    ///
    /// Throws `error` when it is not one.
    func transactionId(or error: APIError = .transactionId) throws(APIError) -> TransactionID {
        guard let id = parameters.transactionId.flatMap({ TransactionID($0) }) else { throw error }
        return id
    }
}

/// What a request that changes the world did.
struct ActionResult: Sendable {
    let answer: SimulatedAnswer
    var changes: [WorldChange] = []
    /// Whether a request with the same request identifier was applied before, so that this one changed nothing.
    var isRepeat = false
    /// The error with which Apple answers a repeat, with every fault rule; `nil` for a success.
    var refusal: APIError?
    /// Whether a restarted simulator must apply the request once more; `false` for one that left no trace.
    var isRecorded = true
}
