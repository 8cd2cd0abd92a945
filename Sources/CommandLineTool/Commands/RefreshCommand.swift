import ArgumentParser
import Ledger
import Pipeline

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh the materialized views; run, replay and erase do this themselves.",
        discussion: """
            Use it after filling the table products, or after a restore. Queries that read
            the views during the refresh see the old rows.

              storeledger refresh jobs/nightly-sync.yaml
              storeledger refresh --json
            """
    )

    @OptionGroup var ledger: LedgerArgument

    @Flag(help: "Write one JSON document to stdout: an array of views.")
    var json = false

    func run() async throws {
        try await perform(job: ledger.path) {
            let (url, schema) = try ledger.place()
            let views = try await Pipeline.refreshViews(
                at: url,
                schema: schema,
                applicationName: StoreLedger.applicationName(),
                databaseDeadline: try databaseDeadline(),
                waiting: reportDatabaseWait
            )
            if json { return Console.result(try JSONOutput.document(views)) }
            for view in views {
                Console.result("\(padded(view.view, to: 30))\(view.rows) rows, \(view.milliseconds) ms")
            }
        }
    }
}
