import Actions
import ArgumentParser
import JobFiles
import Pipeline

struct PlanActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Freeze a batch and check every row; sends nothing.",
        discussion: """
            Shows the batch's hash, the rows by verdict, what they give away, and the time
            they need. A later change of the input changes the batch only if it is planned
            again. A plan replaces the job's last plan unless that was approved.

              storeledger actions plan jobs/extend-after-outage.yaml
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.actionPipeline()
            if let warning = pipeline.job.sandboxOnlyWarning { Console.message("storeledger: warning: \(warning)") }
            if pipeline.job.readsQuery {
                for warning in try await pipeline.actions().queryWarnings() {
                    Console.message("storeledger: warning: \(warning)")
                }
            }
            try BatchSummaryText(try await pipeline.plan(), of: pipeline.job, path: job.path).show(json: json)
        }
    }
}

struct RetryActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Plan the rejected rows of the last batch as a new batch; sends nothing.",
        discussion: """
            Without --csv the rows are unchanged, for a cause outside the rows. With --csv
            they come from a file, such as a corrected rejected.csv. The new batch needs its
            own approval.

              storeledger actions retry jobs/extend-after-outage.yaml
              storeledger actions retry jobs/extend-after-outage.yaml --csv rejected.csv
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("The corrected rows.", valueName: "FILE"))
    var csv: String?

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.actionPipeline()
            try BatchSummaryText(try await pipeline.retry(csv: csv), of: pipeline.job, path: job.path).show(json: json)
        }
    }
}
