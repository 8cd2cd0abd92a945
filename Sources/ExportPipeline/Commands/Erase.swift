import JobPlan
package import Ledger
import Workers

extension ExportPipeline {
    /// How long another process may go on writing CSV files before the erasure ends without having written them.
    private static let publishingPatience = Duration.seconds(60)

    /// Erases customers, each in a transaction of their own: all of one or nothing.
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
        let apps = try await knownApps().map(\.app)
        for ids in customers {
            try Task.checkCancellation()
            done(try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal))
        }
    }

    /// Erases again, by their tombstones, customers that a restored backup brought back.
    ///
    /// - Returns: `nil` when there are none.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func eraseAgain(isRehearsal: Bool) async throws -> Erasure? {
        try await openLedger()
        let apps = try await knownApps().map(\.app)
        var ids: Set<CustomerID> = []
        for app in apps { ids.formUnion(try await ledger.erasedIDsStillHeld(in: app)) }
        let erasure = try await ledger.erase(ids, in: apps, isRehearsal: isRehearsal)
        return erasure.removed.isEmpty ? nil : erasure
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
