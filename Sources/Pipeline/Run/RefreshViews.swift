import Ledger

extension Pipeline {
    /// Refreshes the views after the changes of a command.
    ///
    /// The changes are already committed, so the command goes on after a failure, and ends with 2.
    ///
    /// - Parameters:
    ///   - evenIfFresh: If true, refreshes even if no run has changed anything since the last refresh, and waits for a
    ///     concurrent refresh. If false, leaves the work to a concurrent refresh.
    ///   - begin: Called before the refresh, which can take minutes.
    /// - Returns: A message if the views are not up to date.
    package func refreshAfterwards(evenIfFresh: Bool, begin: () -> Void = {}) async -> String? {
        do {
            try await ledger.recordingFailure {
                if evenIfFresh {
                    begin()
                    try await ledger.refreshViews()
                } else {
                    _ = try await ledger.refreshViewsIfStale(begin: begin)
                }
            }
            return nil
        } catch {
            return "the views were not refreshed: \(Failure(error).message)"
                + "; storeledger refresh brings them up to date"
        }
    }
}

extension Ledger {
    /// Runs a refresh of the views, and records its failure in the ledger, where `status`, `doctor` and metrics find it.
    ///
    /// - Throws: The error of `refresh`.
    package func recordingFailure<Result>(_ refresh: () async throws -> Result) async throws -> Result {
        do {
            return try await refresh()
        } catch {
            let message = Failure(error).message
            // In a separate task, because a signal has cancelled this one. If PostgreSQL cannot be reached, nothing is
            // recorded.
            await Task { try? await recordRefreshFailure(message) }.value
            throw error
        }
    }
}
