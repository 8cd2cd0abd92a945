package import JobPlan
package import Ledger

extension ExportPipeline {
    /// What every table, view and column of a ledger means; no job file is needed.
    ///
    /// - Parameters:
    ///   - url: The ledger's database.
    ///   - schema: The ledger's schema.
    ///   - databaseDeadline: How long to wait for PostgreSQL.
    /// - Returns: Tables and views, by name.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package static func dictionary(
        at url: DatabaseURL,
        schema: String,
        databaseDeadline: Duration
    ) async throws -> DataDictionary {
        try await Ledger.opened(at: url, schema: schema, databaseDeadline: databaseDeadline).dictionary()
    }
}
