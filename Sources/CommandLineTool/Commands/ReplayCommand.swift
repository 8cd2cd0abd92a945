import ArgumentParser
import Basics
import Pipeline

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Verify and normalize the archived records again, without requests to Apple.",
        discussion: """
            Use it after an upgrade that reads more fields. Use --rejected after a
            certificate rotation.

              storeledger replay jobs/nightly-sync.yaml
              storeledger replay jobs/nightly-sync.yaml --rejected
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Replay rejected records instead of the archive; valid ones are loaded and marked as resolved.")
    var rejected = false

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let report = try await pipeline.replay(rejectedOnly: rejected) {
                Console.message("storeledger: \($0)")
            }
            Console.result(
                "\(report.payloads) payloads: \(report.rowsNew) new, \(report.rowsUpdated) updated, "
                    + "\(report.rowsUnchanged) unchanged, \(report.rejected) rejected"
                    + (report.dismissed > 0 ? ", \(report.dismissed) rejected as before and dismissed" : "")
                    + (report.withheld > 0 ? ", \(report.withheld) withheld of erased customers" : "")
            )
            let warning =
                report.rowsNew + report.rowsUpdated > 0 ? await pipeline.refreshAfterwards(evenIfFresh: true) : nil
            if let warning { Console.message("storeledger: \(warning)") }
            if report.rejected > 0 || warning != nil { throw ExitCode(ExitStatus.completeWithLosses.rawValue) }
        }
    }
}
