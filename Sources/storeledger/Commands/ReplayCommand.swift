import ArgumentParser
import ExportPipeline

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Verify and normalise again from the raw archive; no call to Apple.",
        discussion: """
            After an upgrade that knows more fields, or with --rejected after a certificate
            rotation.

              storeledger replay jobs/nightly-sync.yaml
              storeledger replay jobs/nightly-sync.yaml --rejected
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "The rejected records instead of the archive; what passes now is loaded and marked as resolved.")
    var rejected = false

    func run() async throws {
        try await perform {
            let pipeline = try job.pipeline()
            let report = try await pipeline.replay(rejectedOnly: rejected) {
                Console.message("storeledger: \($0)")
            }
            Console.result(
                "\(report.payloads) payloads: \(report.rowsNew) new, \(report.rowsUpdated) updated, "
                    + "\(report.rowsUnchanged) unchanged, \(report.rejected) rejected"
                    + (report.withheld > 0 ? ", \(report.withheld) withheld of erased customers" : "")
            )
            if report.rowsNew + report.rowsUpdated > 0,
                let stale = await pipeline.refreshAfterwards(evenIfFresh: true)
            {
                Console.message("storeledger: \(stale)")
            }
            if report.rejected > 0 { throw ExitCode(ExitStatus.completeWithLosses.rawValue) }
        }
    }
}
