package import JobSyntax

/// The source of a job's transaction IDs.
package enum TransactionIDSource: Equatable, Sendable {
    case listed(IDList)
    /// The customers mentioned in the app's notifications since this moment.
    ///
    /// Never ``DateExpression/now``. ``DateExpression/lastRun`` is the last run that requested the customer.
    case changedSince(DateExpression)

    /// `nil` for customers that notifications name.
    package var list: IDList? {
        if case .listed(let list) = self { return list }
        return nil
    }
}
