import Actions
import AppStoreModel
import Basics
import ArgumentParser
import Pipeline
import Publish

struct RunActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send what is approved, and find out unknown outcomes.",
        discussion: """
            Run it again to continue. A row whose answer was lost is sent again with the
            same ID, never with another one. The same job can run on several machines at
            once. Exit code 2: rows were rejected, or their outcome is unknown.

              storeledger actions run jobs/extend-after-outage.yaml
            """
    )

    @OptionGroup var job: ActionJobArgument

    @Flag(help: "Write the result as one JSON document to stdout.")
    var json = false

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let report = try await pipeline.run(
                remark: { Console.message("storeledger: \($0)") },
                report: { event in
                    guard case .waiting(let endpoint, let wait) = event, wait >= .seconds(60) else { return }
                    Console.message("storeledger: \(endpoint.rawValue) waits \(wait.inWords) for Apple's limit")
                }
            )
            let text = BatchStatusText(report.batches, job: report.job, path: job.path)
            if json {
                Console.result(try text.json())
            } else {
                text.lines.forEach(Console.result)
                for file in report.files { Console.result("  \(file.file) (\(counted(file.rows, "row")))") }
            }
            let status = report.exitStatus
            if status != .complete { throw ExitCode(status.rawValue) }
        }
    }
}
