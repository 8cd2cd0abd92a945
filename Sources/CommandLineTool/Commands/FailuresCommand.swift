import ArgumentParser
import Basics
import JobFiles
import Ledger
import Pipeline
import Publish
import Status

struct FailuresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failures",
        abstract: "List the failed items of a job by Apple's code and message.",
        discussion: """
            Lists the failed items of all runs by reason, the most frequent first. With
            --csv, they are written to a file that only you can read. An item is a
            transaction ID, an order ID or a window of time.

              storeledger failures jobs/nightly-sync.yaml
              storeledger failures jobs/nightly-sync.yaml --csv failures.csv
            """
    )

    @OptionGroup var job: JobArgument

    @Option(
        help: ArgumentHelp("Write a CSV file; it replaces an existing one when it is complete.", valueName: "FILE")
    )
    var csv: String?

    func run() async throws {
        try await perform(job: job.path, onlyReads: true) {
            // A file has the items of one app.
            let pipelines = try csv == nil ? job.pipelines() : [job.pipeline()]
            try await job.forEach(pipelines) { try await show($0, named: pipelines.count > 1) }
        }
    }

    private func show(_ pipeline: Pipeline, named: Bool) async throws {
        let ledger = pipeline.ledger
        let job = pipeline.job.name
        let name = named ? "\(job) of \(pipeline.job.app.bundleId)" : job
        try await ledger.open()
        guard let app = try await pipeline.knownApp(), try await ledger.jobs(of: app).contains(job) else {
            return Console.result("\(name) has never run")
        }
        func batch(_ reason: FailureReason? = nil, after last: FailedItem?) async throws -> [FailedItem] {
            try await ledger.failedItems(of: job, app: app, because: reason, after: last, atMost: 5_000)
        }
        if let csv {
            let count = try await Self.export(to: csv) { try await batch(after: $0) }
            return Console.result("\(csv): \(counted(count, "failed item")) of \(name)")
        }
        let reasons = try await ledger.failureReasons(of: job, app: app)
        if reasons.isEmpty { Console.result("\(name): no failed items") } else if named { Console.result("\(name):") }
        for reason in reasons {
            Self.show(reason)
            var last: FailedItem?
            repeat {
                let items = try await batch(reason, after: last)
                items.forEach(Self.show)
                last = items.last
            } while last != nil
        }
    }

    /// Writes the items, with Apple's code and message, into a file with mode 0600.
    ///
    /// - Returns: The number of items.
    private static func export(
        to path: String,
        _ items: (_ last: FailedItem?) async throws -> [FailedItem]
    ) async throws -> Int {
        var last: FailedItem?
        let columns = ["stream", "item_key", "error_code", "error_message", "request_count", "run_id", "failed_at"]
        return try await publishCSV(at: path, columns: columns) {
            let batch = try await items(last)
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

    private static func show(_ reason: FailureReason) {
        let code = reason.errorCode.map { " (\($0))" } ?? ""
        Console.result("\(counted(reason.items, "item")) of \(reason.stream): \(reason.message)\(code)")
    }

    private static func show(_ item: FailedItem) {
        let when = item.failedAt.map { ", failed \($0)" } ?? ""
        Console.result("  \(itemName(item.item)): \(counted(item.requests, "request")) in run \(item.run)\(when)")
    }
}
