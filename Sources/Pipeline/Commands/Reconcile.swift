import AppStoreModel
import JobPlan
package import Ledger

extension Pipeline {
    /// Compares what the receiver of notifications stored with Apple's notification history, for closed days.
    ///
    /// Sends nothing: runs have read the history. What is not in it is read again by the job's next run.
    ///
    /// - Parameter isFinal: Whether notifications that are not in the history are reported at once.
    /// - Returns: The days that can still change.
    package func reconcile(isFinal: Bool) async throws -> Reconciliation {
        try await openLedgerToWrite()
        return try await ledger.reconcile(job.app, isFinal: isFinal)
    }
}

extension ReceiverPipeline {
    /// Compares as ``Pipeline/reconcile(isFinal:)`` does.
    ///
    /// The runs of the app's other jobs have read the history.
    package func reconcile(isFinal: Bool) async throws -> Reconciliation {
        try await ledger.openToWrite()
        return try await ledger.reconcile(job.app, isFinal: isFinal)
    }
}

extension Ledger {
    fileprivate func reconcile(_ app: JobFile.App, isFinal: Bool) async throws -> Reconciliation {
        let (bundleId, environment) = (app.bundleId, app.environment)
        guard let known = try await knownApp(bundleId: bundleId, environment: environment.rawValue) else {
            throw NothingReceived()
        }
        return try await reconcile(
            app: known,
            bundleId: bundleId,
            environment: environment,
            isFinal: isFinal,
            now: try await now()
        )
    }
}
