import JobPlan
import Ledger
import Publish

extension Pipeline {
    /// Items in one batch.
    private static let failureBatch = 5_000

    /// Writes the failed items of all runs of the job, with Apple's code and message, as CSV into a file with mode 0600.
    ///
    /// - Returns: The number of items; `nil` if the job has never run, and then nothing is written.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. An existing file is then unchanged.
    package func exportFailures(to path: String) async throws -> Int? {
        try await openLedger()
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else { return nil }
        var last: FailedItem?
        let columns = ["stream", "item_key", "error_code", "error_message", "request_count", "run_id", "failed_at"]
        return try await publishCSV(at: path, columns: columns) {
            let batch = try await ledger.failedItems(of: job.name, app: app, after: last, atMost: Self.failureBatch)
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
}
