/// The current state of a transaction.
///
/// An answer signs it each time.
final class StoredTransaction: Sendable {
    let transaction: Transaction
    let customer: CustomerIdentity
    /// The earliest signing date of this state, in milliseconds since 1970.
    private let earliestSignedDate: Int64

    /// - `moment`: This state is signed after this moment, so that an older state never has a later signing date.
    init(_ transaction: Transaction, of customer: CustomerIdentity, signedAfter moment: Int64) {
        self.transaction = transaction
        self.customer = customer
        earliestSignedDate = max(transaction.modifiedDate, moment + 1)
    }

    /// The signing date in an answer of the moment `now`, both in milliseconds since 1970.
    ///
    /// It is `now`, unless the world is ahead of the clock.
    func signedDate(at now: Int64) -> Int64 { max(now, earliestSignedDate) }

    var cursorPosition: CursorPosition {
        CursorPosition(date: transaction.modifiedDate, number: transaction.id)
    }
}
