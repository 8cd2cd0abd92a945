package import JobPlan
package import Ledger

extension Pipeline {
    /// Brings the materialised views of a ledger up to date; no job file is needed.
    ///
    /// - Parameters:
    ///   - url: The ledger's database.
    ///   - schema: The ledger's schema.
    ///   - applicationName: What sessions call themselves.
    ///   - databaseDeadline: How long to wait for PostgreSQL.
    /// - Returns: The views, with the rows each has now.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package static func refreshViews(
        at url: DatabaseURL,
        schema: String,
        applicationName: String = "storeledger",
        databaseDeadline: Duration
    ) async throws -> [RefreshedView] {
        try await Ledger.opened(
            at: url,
            schema: schema,
            applicationName: applicationName,
            databaseDeadline: databaseDeadline
        ).refreshViews()
    }

    /// Brings the materialised views up to date after what a command has changed.
    ///
    /// What was changed is durable by then, so a failure is reported and does not fail the command.
    ///
    /// - Parameters:
    ///   - evenIfFresh: Also when no run has changed a row since; waits for another refresh then. Otherwise one that is
    ///     under way is left to finish the work.
    ///   - begin: Called before views are refreshed, which can take minutes.
    /// - Returns: A sentence when the views are not up to date.
    package func refreshAfterwards(evenIfFresh: Bool, begin: () -> Void = {}) async -> String? {
        do {
            if evenIfFresh {
                begin()
                _ = try await ledger.refreshViews()
            } else {
                _ = try await ledger.refreshViewsIfStale(begin: begin)
            }
            return nil
        } catch {
            return "the materialised views are as they were, and everything else is done: \(Failure(error).message)"
                + "; storeledger refresh brings them up to date"
        }
    }
}
