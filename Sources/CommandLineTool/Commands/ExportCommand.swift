import ArgumentParser
import Ledger
import Pipeline
import Publish

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the job's CSV files again from the ledger, without requests to Apple.",
        discussion: "  storeledger export jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform(job: job.path) {
            let manifest = try await job.pipeline().export()
            for file in manifest.files { Console.result("\(file.file): \(file.rows) rows, \(file.bytes) bytes") }
        }
    }
}
