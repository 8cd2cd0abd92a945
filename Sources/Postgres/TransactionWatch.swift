/// What sessions do in each transaction in addition to its statements.
package protocol TransactionWatch: Sendable {
    /// A session was opened, perhaps with another server than the one before: nothing that was read before must be relied on.
    func sessionOpened()

    /// Begins a transaction.
    ///
    /// - Parameters:
    ///   - statement: `BEGIN`. Further statements in the same message must not take a snapshot.
    ///   - connection: Outside a transaction.
    /// - Throws: Any error; the transaction is then rolled back.
    func begin(_ statement: String, on connection: borrowing PostgresConnection) throws

    /// Reads what the transaction depends on.
    ///
    /// It is the first query of the transaction, or with ``IsolationLevel/repeatableRead`` the last one: such a transaction may take
    /// a lock first, so that its snapshot is newer than the lock.
    ///
    /// - Parameter connection: Inside the transaction.
    /// - Throws: Any error; the transaction is then rolled back.
    func check(on connection: borrowing PostgresConnection) throws
}
