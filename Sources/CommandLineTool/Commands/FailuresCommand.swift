import ArgumentParser
import Basics
import JobPlan
import Ledger
import Pipeline

struct FailuresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failures",
        abstract: "List the failed items of a job by Apple's code and message.",
        discussion: """
            Lists the failed items of all runs, reason by reason: the one with the most
            items first. With --csv, they are written to a file that
            only you can read. An item is a transaction ID, an order ID or a window of
            time.

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
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let name = pipeline.job.name
            let neverRan = "\(name) has never run"
            guard let csv else {
                switch try await pipeline.failures(reason: Self.show, item: Self.show) {
                case nil: return Console.result(neverRan)
                case false?: return Console.result("\(name): no failed items")
                case true?: return
                }
            }
            guard let count = try await pipeline.exportFailures(to: csv) else { return Console.result(neverRan) }
            Console.result("\(csv): \(counted(count, "failed item")) of \(name)")
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
