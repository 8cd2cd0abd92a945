package import JobPlan
package import Ledger

extension Pipeline {
    /// The descriptions of all tables, views and columns of a ledger; needs no job file.
    ///
    /// - Parameters:
    ///   - applicationName: The sessions' `application_name`.
    ///   - databaseDeadline: How long to wait for PostgreSQL.
    ///   - waiting: Called with PostgreSQL's message while no session can be opened.
    /// - Returns: Tables and views, by name.
    package static func dictionary(
        at url: DatabaseURL,
        schema: String,
        applicationName: String = "storeledger",
        databaseDeadline: Duration,
        waiting: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> DataDictionary {
        try await Ledger.opened(
            at: url,
            schema: schema,
            applicationName: applicationName,
            databaseDeadline: databaseDeadline,
            waiting: waiting
        ).dictionary()
    }
}
