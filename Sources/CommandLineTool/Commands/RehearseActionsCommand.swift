import Actions
import ArgumentParser
import JobFiles
import Pipeline

struct RehearseActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Show what a policy would have answered to earlier refund requests.",
        discussion: """
            For each rule: the requests it decides, what the purchases cost, and what Apple
            has decided. Sends and stores nothing.

              storeledger actions rehearse jobs/answer-consumption-requests.yaml
              storeledger actions rehearse jobs/answer-consumption-requests.yaml --days 7
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("The requests of the last days: 1 to 3650.", valueName: "N"))
    var days: Int64 = 30

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func validate() throws {
        guard (1...3_650).contains(days) else { throw ValidationError("--days must be from 1 to 3650, not \(days)") }
    }

    func run() async throws {
        try await perform(job: job.path, onlyReads: true) {
            let pipeline = try job.actionPipeline()
            let text = RehearsalText(try await pipeline.actions().rehearse(days: days), job: pipeline.job.name)
            if json { return Console.result(try JSONOutput.document(text.document)) }
            text.lines.forEach(Console.result)
        }
    }
}
