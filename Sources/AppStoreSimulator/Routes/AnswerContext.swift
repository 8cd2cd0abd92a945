import AppStoreModel

/// What a route needs besides the request to make an answer.
struct AnswerContext: Sendable {
    let world: ServedWorld
    let cursors: CursorCodec
    /// The moment of the answer; its transactions are signed with it.
    let now: UnixMilliseconds
    /// How long a `paginationToken` is valid; `nil` when it never expires.
    let tokenLifetime: Duration?
    /// The error for a request identifier that was applied before; `nil` when it is answered as the first one was.
    let repeatRefusal: APIError?

    /// All transactions of the customer who owns the transaction ID or app transaction ID, in the order of modification.
    ///
    /// Throws ``APIError/transactionNotFound`` when no customer owns it.
    func history(of id: TransactionID) throws(APIError) -> (customer: Int, transactions: [StoredTransaction]) {
        guard let history = world.history(of: id) else { throw .transactionNotFound }
        return history
    }
}
