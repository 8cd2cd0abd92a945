import JobPlan
package import Ledger
import LedgerSchema
import Publish

extension Pipeline {
    /// Items in one batch.
    private static let failureBatch = 5_000

    /// Reads the failed items of all runs of the job: reason by reason, the one with the most items first.
    ///
    /// - Parameters:
    ///   - begin: Called with each reason, before its items.
    ///   - found: Called with each item, by stream and key.
    /// - Returns: Whether there are any; `nil` if the job has never run.
    package func failures(
        reason begin: (FailureReason) -> Void,
        item found: (FailedItem) -> Void
    ) async throws -> Bool? {
        guard let app = try await appOfFailures() else { return nil }
        let reasons = try await ledger.failureReasons(of: job.name, app: app)
        for reason in reasons {
            begin(reason)
            var last: FailedItem?
            repeat {
                let batch = try await failures(of: app, because: reason, after: last)
                batch.forEach(found)
                last = batch.last
            } while last != nil
        }
        return !reasons.isEmpty
    }

    /// Writes the failed items of all runs of the job, with Apple's code and message, as CSV into a file with mode 0600.
    ///
    /// - Returns: The number of items; `nil` if the job has never run, and then nothing is written.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. An existing file is then unchanged.
    package func exportFailures(to path: String) async throws -> Int? {
        guard let app = try await appOfFailures() else { return nil }
        var last: FailedItem?
        let columns = ["stream", "item_key", "error_code", "error_message", "request_count", "run_id", "failed_at"]
        return try await publishCSV(at: path, columns: columns) {
            let batch = try await failures(of: app, after: last)
            guard let end = batch.last else { return nil }
            last = end
            return batch.map { item in
                [
                    .text(item.stream), .text(item.item), item.errorCode.map(CSVCell.number) ?? .null,
                    .text(item.message), .number(item.requests), .number(item.run),
                    item.failedAt.map(CSVCell.text) ?? .null,
                ]
            }
        }
    }

    /// The job's app; `nil` if the job has never run.
    private func appOfFailures() async throws -> AppID? {
        try await openLedger()
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else { return nil }
        return app
    }

    private func failures(
        of app: AppID,
        because reason: FailureReason? = nil,
        after last: FailedItem?
    ) async throws -> [FailedItem] {
        try await ledger.failedItems(
            of: job.name,
            app: app,
            because: reason,
            after: last,
            atMost: Self.failureBatch
        )
    }
}
