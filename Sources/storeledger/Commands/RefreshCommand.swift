import ArgumentParser
import ExportPipeline
import Ledger

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Bring the materialised views up to date; run, replay and erase do so themselves.",
        discussion: """
            For what they do not see: after filling products, or a restore. Whoever reads
            the views meanwhile reads what was there before.

              storeledger refresh jobs/nightly-sync.yaml
              storeledger refresh --json
            """
    )

    @OptionGroup var ledger: LedgerArgument

    @Flag(help: "One JSON document on stdout: an array of views.")
    var json = false

    func run() async throws {
        try await perform {
            let (url, schema) = try ledger.place()
            let views = try await ExportPipeline.refreshViews(
                at: url,
                schema: schema,
                applicationName: StoreLedger.applicationName(),
                databaseDeadline: try databaseDeadline()
            )
            if json { return Console.result(try JSONOutput.document(views)) }
            for view in views {
                let space = String(repeating: " ", count: max(1, 30 - view.view.count))
                Console.result("\(view.view)\(space)\(view.rows) rows, \(view.milliseconds) ms")
            }
        }
    }
}
