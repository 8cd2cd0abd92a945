import AppStoreModel
import ArgumentParser
import Basics
import JobPlan
import Pipeline

struct ValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check a job file offline; no other file is read.",
        discussion: "  storeledger validate jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform(job: job.path) {
            if let action = try job.actionPipeline()?.job {
                return Console.result(
                    "\(job.path): job \"\(action.name)\" of \(action.app.bundleId) (\(action.app.environment.rawValue)) is valid: \(action.action.name.rawValue)"
                )
            }
            if let receiver = try job.receiverPipeline()?.job {
                return Console.result(
                    "\(job.path): job \"\(receiver.name)\" of \(receiver.app.bundleId) (\(receiver.app.environment.rawValue)) is valid: receiver"
                )
            }
            let file = try job.load()
            let now = UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
            for warning in file.warnings(at: now) { Console.message("storeledger: warning: \(warning)") }
            let streams = file.streams.names.map(\.rawValue).joined(separator: ", ")
            Console.result(
                "\(job.path): job \"\(file.name)\" of \(file.app.bundleId) (\(file.app.environment.rawValue)) is valid: \(streams)"
            )
        }
    }
}
