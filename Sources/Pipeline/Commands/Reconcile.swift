import JobPlan
package import Ledger

extension Pipeline {
    /// Compares what the receiver of notifications stored with Apple's notification history, for closed days.
    ///
    /// Sends nothing: runs have read the history. What is not in it is read again by the job's next run.
    ///
    /// - Parameter isFinal: Whether notifications that are not in the history are reported at once.
    /// - Returns: The days that can still change.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func reconcile(isFinal: Bool) async throws -> Reconciliation {
        try await openLedgerToWrite()
        guard let app = try await knownApp() else { throw NothingReceived() }
        return try await ledger.reconcile(
            app: app,
            bundleId: job.app.bundleId,
            environment: job.app.environment,
            isFinal: isFinal,
            now: try await ledger.now()
        )
    }
}
