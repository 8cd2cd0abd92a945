/// A transaction as the store has it now; a history signs it each time it answers.
final class StoredTransaction: Sendable {
    let transaction: Transaction
    let customer: CustomerIdentity
    /// No signature of this state is earlier.
    ///
    /// Milliseconds since 1970.
    private let earliestSignedDate: Int64

    /// - `before`: No answer shows this state earlier than behind this moment, so that an older state is never signed later.
    init(_ transaction: Transaction, of customer: CustomerIdentity, notBefore before: Int64) {
        self.transaction = transaction
        self.customer = customer
        earliestSignedDate = max(transaction.modifiedDate, before + 1)
    }

    /// What an answer of the moment `now` is signed with; both in milliseconds since 1970.
    ///
    /// The same as `now`, unless the world is ahead of the clock.
    func signedDate(at now: Int64) -> Int64 { max(now, earliestSignedDate) }

    var position: CursorPosition {
        CursorPosition(date: transaction.modifiedDate, number: transaction.id)
    }
}
