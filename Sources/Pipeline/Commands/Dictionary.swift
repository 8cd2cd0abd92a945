package import JobPlan
package import Ledger

extension Pipeline {
    /// What every table, view and column of a ledger means; no job file is needed.
    ///
    /// - Parameters:
    ///   - url: The ledger's database.
    ///   - schema: The ledger's schema.
    ///   - applicationName: What sessions call themselves.
    ///   - databaseDeadline: How long to wait for PostgreSQL.
    /// - Returns: Tables and views, by name.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package static func dictionary(
        at url: DatabaseURL,
        schema: String,
        applicationName: String = "storeledger",
        databaseDeadline: Duration
    ) async throws -> DataDictionary {
        try await Ledger.opened(
            at: url,
            schema: schema,
            applicationName: applicationName,
            databaseDeadline: databaseDeadline
        ).dictionary()
    }
}
