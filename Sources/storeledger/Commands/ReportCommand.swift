import ArgumentParser
import ExportPipeline
import JobPlan

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write one HTML page with charts: revenue, subscriptions, retention, refunds, deliveries, runs.",
        discussion: """
            The page needs no network and no other file. It shows sums and counts, no
            customer; the role of an analyst is enough to make it. Charts are drawn by
            Chart.js of the package libjs-chart.js.

              storeledger report jobs/nightly-sync.yaml --output report.html
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("The page; one that is there is replaced when the new one is whole.", valueName: "FILE"))
    var output: String

    func run() async throws {
        try await perform {
            let pipeline = try job.pipeline()
            let report = try await pipeline.report(to: output)
            Console.result(
                "\(output): \(report.bytes) bytes" + (report.hasRun ? "" : "; \(pipeline.job.name) has never run")
            )
        }
    }
}
