package import AppStoreModel

/// Where a job's transaction IDs come from.
package enum TransactionIDSource: Equatable, Sendable {
    /// Written in the job file: at least one, in the order written; one may stand there twice.
    case list([TransactionID])
    /// A CSV file; without a column name, its only or first column.
    case csv(path: String, column: String?)
    /// One SELECT or WITH statement for the job's own database, without a semicolon. Its first column holds the IDs.
    case query(String)
    /// The customers whom the app's notifications of this run name, from this moment on.
    ///
    /// Never ``DateExpression/now``. ``DateExpression/lastRun`` means for each customer the run that last asked.
    case changedSince(DateExpression)
}
