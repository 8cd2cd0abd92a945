import Actions
import ArgumentParser
import Basics
import JobFiles
import Pipeline
import Publish

struct ActionStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the batches of a job and the outcome of their rows.",
        discussion: """
              storeledger actions status jobs/extend-after-outage.yaml
              storeledger actions status jobs/extend-after-outage.yaml --json
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Write one JSON document to stdout: an array of batches.")
    var json = false

    func run() async throws {
        try await perform(job: job.path, onlyReads: true) {
            let pipeline = try job.actionPipeline()
            let actions = try await pipeline.actions()
            let statuses = try await actions.statuses(of: try await actions.batches())
            let text = BatchStatusText(statuses, job: pipeline.job.name, path: job.path)
            if json { return Console.result(try text.json()) }
            if let approval = try await actions.policyApproval() {
                Console.result(PolicyApprovalText(approval, job: pipeline.job.name).line)
            }
            text.lines.forEach(Console.result)
        }
    }
}

struct ActionResultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results",
        abstract: "Write the rows of a batch with their outcomes as CSV files.",
        discussion: """
            succeeded.csv, rejected.csv, unprocessed.csv and unknown.csv have every row of
            the input exactly once, with its columns and the outcome. Only you can read
            them.

              storeledger actions results jobs/extend-after-outage.yaml --directory out
            """
    )

    @OptionGroup var job: JobArgument

    @Option(
        help: ArgumentHelp("Where to write the files (default: output.results.directory).", valueName: "DIR")
    )
    var directory: String?

    @Option(help: ArgumentHelp("The hash of the batch (default: the newest).", valueName: "HASH"))
    var batch: String?

    func run() async throws {
        try await perform(job: job.path, onlyReads: true) {
            let pipeline = try job.actionPipeline()
            let (batch, directory, files) = try await pipeline.results(in: directory, of: batch?.lowercased())
            Console.result("\(pipeline.job.name): batch \(batch.sha256) in \(directory)")
            for file in files { Console.result("  \(file.file) (\(counted(file.rows, "row")))") }
        }
    }
}
