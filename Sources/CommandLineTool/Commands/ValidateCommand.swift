import ActionKinds
import AppStoreModel
import ArgumentParser
import Basics
import JobFiles
import Pipeline
import Streams

struct ValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check a job file offline; no other file is read.",
        discussion: "  storeledger validate jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform(job: job.path, onlyReads: true) {
            var warnings: Set<String> = []
            for file in try job.loadEach(.any) {
                let work: String
                switch file {
                case .action(let action): work = action.action.name.rawValue
                case .receiver: work = "receiver"
                case .crawl(let crawl):
                    let now = UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
                    for warning in crawl.warnings(at: now) where warnings.insert(warning).inserted {
                        Console.message("storeledger: warning: \(warning)")
                    }
                    work = crawl.streams.names.map(\.rawValue).joined(separator: ", ")
                }
                Console.result(
                    "\(job.path): job \"\(file.name)\" of \(file.app.bundleId) (\(file.app.environment.rawValue)) is valid: \(work)"
                )
            }
        }
    }
}
