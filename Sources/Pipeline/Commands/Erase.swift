import AppStoreModel
import Basics
package import Erasure
import JobPlan
package import Ledger
import LedgerSchema
package import Publish
import StrictJSON

extension Pipeline {
    /// How long to wait while another process writes CSV files.
    ///
    /// After that, the erasure ends without updated files.
    private static let publishingPatience = Duration.seconds(60)

    /// Erases customers, each in one transaction: all of a customer's records or none.
    ///
    /// Covers every environment in which the ledger has records of the job's bundle ID, regardless of the job that
    /// loaded them.
    ///
    /// - Parameters:
    ///   - customers: The IDs of each customer.
    ///   - isRehearsal: Whether to count only.
    ///   - done: Called after each customer's transaction has committed.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. The customers before the failed one are erased.
    package func erase(
        _ customers: [Set<CustomerID>],
        isRehearsal: Bool,
        done: (ErasureSummary) -> Void
    ) async throws {
        try await openLedger()
        // Creates the app if necessary, so that tombstones also exist in an app without records of the customer.
        _ = try await ownApp()
        let apps = try await appsOfBundle()
        for ids in customers {
            try Task.checkCancellation()
            done(try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal))
        }
    }

    /// The job's app in every environment in which the ledger has records.
    private func appsOfBundle() async throws -> [AppID] {
        try await ledger.knownApps().filter { $0.bundleId.isByteEqual(to: job.app.bundleId) }.map(\.id)
    }

    /// Repeats erasures, by their tombstones, after a restored backup brought customers back; covers every environment.
    ///
    /// - Returns: `nil` if there are no such customers.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func eraseAgain(isRehearsal: Bool) async throws -> ErasureSummary? {
        try await openLedger()
        let apps = try await appsOfBundle()
        var ids: Set<CustomerID> = []
        for app in apps { ids.formUnion(try await ledger.returnedErasedIDs(in: app)) }
        let summary = try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal)
        return summary.removed.isEmpty ? nil : summary
    }

    /// Renews PostgreSQL's statistics, which can contain values of erased customers.
    ///
    /// The erasure is already committed, so a failure is reported but does not fail the command.
    ///
    /// - Returns: A message if the statistics were not renewed.
    package func renewStatisticsAfterwards() async -> String? {
        do {
            try await ledger.renewStatistics()
            return nil
        } catch {
            return "the planner's statistics may still hold values of erased customers: \(Failure(error).message)"
                + "; storeledger refresh renews them"
        }
    }

    /// Publishes the job's CSV files again without the erased customers; waits for a run that is writing them.
    ///
    /// - Returns: `nil` if the job has no CSV output.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func publishWithoutErased() async throws -> Manifest? {
        guard job.output.csv != nil else { return nil }
        let began = time.monotonic()
        while true {
            do {
                return try await export()
            } catch LedgerError.directoryInUse where time.monotonic() - began < Self.publishingPatience {
                try await time.sleep(.seconds(1))
            }
        }
    }
}
