import AppStoreModel
package import Basics
package import Erasure
import JobPlan
package import Ledger
import LedgerSchema
import Publish
import StrictJSON

extension Pipeline {
    /// How long to wait for another process that writes the CSV files.
    ///
    /// After that, the command fails without updating them.
    private static let publishTimeout = Duration.seconds(60)

    /// Erases customers, each in a separate transaction: all of a customer's records or none.
    ///
    /// Covers every environment in which the ledger has records of the job's bundle ID, whichever job loaded them.
    ///
    /// - Parameters:
    ///   - isRehearsal: Whether to count only.
    ///   - done: Called after each customer's transaction has committed.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. The customers before the failed one are erased.
    package func erase(
        _ customers: [Set<CustomerID>],
        isRehearsal: Bool,
        done: (ErasureSummary) -> Void
    ) async throws {
        try await openLedgerToWrite()
        // Creates the app if the ledger lacks it. Then the tombstones are stored even before its first records.
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

    /// Erases again the customers whose records came back with a restored backup.
    ///
    /// Their tombstones identify them. Covers every environment.
    ///
    /// - Returns: `nil` if there are no such customers.
    package func eraseAgain(isRehearsal: Bool) async throws -> ErasureSummary? {
        try await openLedgerToWrite()
        let apps = try await appsOfBundle()
        var ids: Set<CustomerID> = []
        for app in apps { ids.formUnion(try await ledger.returnedErasedIDs(in: app)) }
        let summary = try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal)
        return summary.removed.isEmpty ? nil : summary
    }

    /// Renews PostgreSQL's statistics, which can contain values of erased customers.
    ///
    /// The erasure is already committed, so the command goes on after a failure, and ends with 2.
    ///
    /// - Returns: A message if the statistics were not renewed.
    package func renewStatisticsAfterwards() async -> String? {
        do {
            try await ledger.renewStatistics()
            return nil
        } catch {
            if let stale = error as? StaleStatistics { return Failure(stale).message }
            return "the planner's statistics can contain values of erased customers: \(Failure(error).message)"
                + "; storeledger refresh renews them"
        }
    }

    /// Publishes the job's files again without the erased customers; waits for a run that is writing them.
    ///
    /// - Returns: Empty if the job publishes no files.
    package func publishWithoutErased() async throws -> [PublishedFiles] {
        guard !job.output.files.isEmpty else { return [] }
        let began = time.monotonic()
        while true {
            do {
                return try await export()
            } catch LedgerError.directoryInUse where time.monotonic() - began < Self.publishTimeout {
                try await time.sleep(.seconds(1))
            }
        }
    }
}

/// Customers of whom the ledger has neither a record nor a tombstone, so that their IDs may be mistyped.
package struct UnknownCustomers: ExplainedError {
    package let count: Int

    package init(count: Int) { self.count = count }

    package var status: ExitStatus { .badInput }

    package var sentence: String {
        "the ledger has no records of \(count == 1 ? "this customer" : "\(count) of these customers"), so nothing was erased. Check the ID. To withhold records that arrive later, add --unknown"
    }
}
