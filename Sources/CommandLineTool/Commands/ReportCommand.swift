import ArgumentParser
import JobPlan
import Pipeline

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write one HTML page with charts: revenue, subscriptions, retention, refunds, deliveries, runs.",
        discussion: """
            The page needs no network and no other file. It shows totals, not single
            customers. The analyst role is sufficient. The charts need Chart.js from the
            package libjs-chart.js.

              storeledger report jobs/nightly-sync.yaml --output report.html
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("The page; replaces an existing one when it is complete.", valueName: "FILE"))
    var output: String

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let report = try await pipeline.report(to: output)
            Console.result(
                "\(output): \(report.bytes) bytes" + (report.hasRun ? "" : "; \(pipeline.job.name) has never run")
            )
        }
    }
}
