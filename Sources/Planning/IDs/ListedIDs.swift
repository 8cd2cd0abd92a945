package import AppStoreModel
import Ledger
import LedgerSchema
import Postgres

/// Provides the listed, validated IDs in batches.
///
/// If it throws because the list is invalid, no run is started.
package typealias IDFeed = @Sendable (_ take: ([TransactionID]) throws -> Void) throws -> Void

/// The source of a run's IDs.
package enum ListedIDs: Sendable {
    case none
    case feed(IDFeed)
    /// One SELECT; its first column holds the IDs.
    case query(String)
}

/// An ID from a query is not a transaction ID.
package struct BadListedID: Error, Equatable, Sendable {
    /// The text, at most 40 characters.
    package let found: String
}

/// PostgreSQL refuses the query of the job's ID list.
package struct BadListQuery: Error, Equatable, Sendable {
    /// PostgreSQL's message.
    package let message: String

    /// Converts PostgreSQL errors about the query.
    ///
    /// Other errors are passed on.
    static func translating<R>(_ query: () throws -> R) throws -> R {
        do {
            return try query()
        } catch let error as PostgresError where ["42", "22"].contains(error.state.conditionClass) {
            throw BadListQuery(message: error.message)
        }
    }
}
