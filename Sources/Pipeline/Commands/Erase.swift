import AppStoreModel
import JobPlan
package import Ledger
package import Publish
import StrictJSON
import Basics

extension Pipeline {
    /// How long another process may go on writing CSV files before the erasure ends without having written them.
    private static let publishingPatience = Duration.seconds(60)

    /// Erases customers, each in a transaction of their own: all of one or nothing.
    ///
    /// Every environment in which the ledger has records of the job's bundle ID is covered, whichever job loaded them.
    ///
    /// - Parameters:
    ///   - customers: The IDs that name each.
    ///   - isRehearsal: Counts only.
    ///   - done: Is told of each as soon as it is durable.
    /// - Throws: What ``Failure/init(_:)`` explains; the customers before are erased.
    package func erase(
        _ customers: [Set<CustomerID>],
        isRehearsal: Bool,
        done: (Erasure) -> Void
    ) async throws {
        try await openLedger()
        // Tombstones are wanted also where the customer may only come to.
        _ = try await ownApp()
        let apps = try await appsOfBundle()
        for ids in customers {
            try Task.checkCancellation()
            done(try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal))
        }
    }

    /// The job's app in every environment the ledger has records of.
    private func appsOfBundle() async throws -> [AppID] {
        try await ledger.knownApps().filter { $0.bundleId.isByteEqual(to: job.app.bundleId) }.map(\.id)
    }

    /// Erases again, by their tombstones, customers that a restored backup brought back, in every environment.
    ///
    /// - Returns: `nil` when there are none.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func eraseAgain(isRehearsal: Bool) async throws -> Erasure? {
        try await openLedger()
        let apps = try await appsOfBundle()
        var ids: Set<CustomerID> = []
        for app in apps { ids.formUnion(try await ledger.erasedIDsStillHeld(in: app)) }
        let erasure = try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal)
        return erasure.removed.isEmpty ? nil : erasure
    }

    /// Has PostgreSQL forget what its statistics hold of the erased.
    ///
    /// The erasure is durable by then, so a failure is told and does not fail the command.
    ///
    /// - Returns: A sentence when the statistics are not renewed.
    package func renewStatisticsAfterwards() async -> String? {
        do {
            try await ledger.renewStatistics()
            return nil
        } catch {
            return "the planner's statistics may still hold values of erased customers: \(Failure(error).message)"
                + "; storeledger refresh renews them"
        }
    }

    /// Writes the job's CSV files again, without the erased; waits for a run that is writing them.
    ///
    /// - Returns: `nil` when the job has no CSV output.
    /// - Throws: What ``Failure/init(_:)`` explains.
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
