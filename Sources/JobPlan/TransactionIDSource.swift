package import AppStoreModel

/// The source of a job's transaction IDs.
package enum TransactionIDSource: Equatable, Sendable {
    /// IDs in the job file: at least one, in their order in the file, possibly with duplicates.
    case list([TransactionID])
    /// A CSV file; without a column name, its first column.
    case csv(path: String, column: String?)
    /// One SELECT or WITH statement for the job's database, without a semicolon.
    ///
    /// Its first column holds the IDs.
    case query(String)
    /// The customers mentioned in the app's notifications since this moment.
    ///
    /// Never ``DateExpression/now``. ``DateExpression/lastRun`` is the last run that requested the customer.
    case changedSince(DateExpression)
}
