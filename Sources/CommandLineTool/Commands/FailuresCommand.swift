import ArgumentParser
import JobPlan
import Pipeline

struct FailuresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failures",
        abstract: "Write the failed items of a job with Apple's code and message as CSV.",
        discussion: """
            The file has the failed items of all runs, as status counts them. Only you can
            read it. item_key is a transaction ID, an order ID or a window of time.

              storeledger failures jobs/nightly-sync.yaml --csv failures.csv
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("The file; replaces an existing one when it is complete.", valueName: "FILE"))
    var csv: String

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            guard let count = try await pipeline.exportFailures(to: csv) else {
                return Console.result("\(pipeline.job.name) has never run")
            }
            Console.result("\(csv): \(counted(count, "failed item")) of \(pipeline.job.name)")
        }
    }
}
