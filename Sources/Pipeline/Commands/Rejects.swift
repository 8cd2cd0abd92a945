import FoundationEssentials
import JobPlan
package import Ledger
import Publish

extension Pipeline {
    /// Records in one batch of a list.
    private static let rejectBatch = 1_000
    /// Records in one batch with their texts, each at most 256 KiB.
    private static let rejectTextBatch = 100

    /// The rejected records of the job that count, oldest first.
    ///
    /// - Parameter row: Called for each record.
    package func rejects(_ row: (RejectedRow) -> Void) async throws {
        try await openLedger()
        guard let app = try await knownApp() else { return }
        var last: Int64 = 0
        while true {
            let batch = try await ledger.rejects(
                of: job.name,
                app: app,
                after: last,
                atMost: Self.rejectBatch,
                withText: false
            )
            guard let end = batch.last else { return }
            last = end.id
            batch.forEach(row)
        }
    }

    /// Writes the rejected records of the job that count, with their texts, as JSON lines into a file with mode 0600.
    ///
    /// - Returns: The number of records.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. An existing file is then unchanged.
    package func exportRejects(to path: String) async throws -> Int {
        try await openLedger()
        let app = try await knownApp()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var last: Int64 = 0
        var count = 0
        try await publishFile(at: path) {
            guard let app else { return nil }
            let batch = try await ledger.rejects(
                of: job.name,
                app: app,
                after: last,
                atMost: Self.rejectTextBatch,
                withText: true
            )
            guard let end = batch.last else { return nil }
            last = end.id
            count += batch.count
            return try batch.flatMap { try Array(encoder.encode($0)) + [UInt8(ascii: "\n")] }
        }
        return count
    }

    /// Dismisses rejected records of the job; see ``Ledger/Ledger/dismiss(_:of:app:)``.
    ///
    /// - Parameter ids: The records; `nil` for all that count.
    /// - Returns: The number of texts that no longer count.
    package func dismissRejects(_ ids: [Int64]?) async throws -> Int {
        try await openLedgerToWrite()
        guard let app = try await knownApp() else {
            if let ids { throw UnknownRejects(ids: ids) }
            return 0
        }
        return try await ledger.dismiss(ids, of: job.name, app: app)
    }
}
