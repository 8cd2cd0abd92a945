/// What sessions do in each transaction in addition to its statements.
package protocol TransactionWatch: Sendable {
    /// A session was opened, perhaps with another server than the one before: nothing that was read before must be relied on.
    func sessionOpened()

    /// A statement in the same message as `BEGIN`, which takes no snapshot; `nil` for none.
    var lock: String? { get }

    /// What it means that `BEGIN` with ``lock`` failed.
    ///
    /// - Parameter error: The answer of the server.
    /// - Returns: The error of the transaction.
    func meaning(of error: PostgresError) -> any Error

    /// Reads what the transaction depends on.
    ///
    /// It is the first query of the transaction, or with ``IsolationLevel/repeatableRead`` the last one: such a transaction may take
    /// a lock first, so that its snapshot is newer than the lock.
    ///
    /// - Parameter connection: Inside the transaction.
    /// - Throws: Any error; the transaction is then rolled back.
    func check(on connection: borrowing PostgresConnection) throws
}
