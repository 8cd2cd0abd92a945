import ArgumentParser
import Ledger
import Pipeline

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh the materialized views; run, replay and erase do this themselves.",
        discussion: """
            Use it after filling the table products, or after a restore. Queries that read
            the views during the refresh see the old rows. It computes what changed since the
            last refresh.

            --verify then compares every view with a computation from every record. It prints
            each difference, and ends with exit code 2 if there is one; the next refresh then
            computes everything.

              storeledger refresh jobs/nightly-sync.yaml
              storeledger refresh --verify --json
            """
    )

    @OptionGroup var ledger: LedgerArgument

    @Flag(help: "Compute everything from every record, not only what changed.")
    var full = false

    @Flag(help: "Compare the views with a computation from every record; exit code 2 on a difference.")
    var verify = false

    @Flag(help: "Write one JSON document to stdout: an array of views, or with --verify of differences.")
    var json = false

    func run() async throws {
        try await perform(job: ledger.path) {
            let (url, schema) = try ledger.place()
            let ledger = try await Pipeline.ledgerToRefresh(
                at: url,
                schema: schema,
                applicationName: StoreLedger.applicationName(),
                databaseDeadline: try databaseDeadline(),
                waiting: reportDatabaseWait
            )
            if full || !verify {
                let views = try await ledger.refreshViews(everything: full)
                if !verify { try show(views) }
            }
            if verify { try show(try await ledger.verifyViews()) }
        }
    }

    private func show(_ views: [RefreshedView]) throws {
        if json { return Console.result(try JSONOutput.document(views)) }
        for view in views {
            Console.result("\(padded(view.view, to: 30))\(view.rows) rows, \(view.milliseconds) ms")
        }
    }

    /// - Throws: Exit code 2 if there is a difference.
    private func show(_ differences: [ViewDifference]) throws {
        if json {
            Console.result(try JSONOutput.document(differences))
        } else if differences.isEmpty {
            Console.result("every view equals a computation from every record")
        }
        if differences.isEmpty { return }
        if !json {
            for difference in differences {
                Console.result(
                    """
                    \(difference.view) \(difference.key)
                      shown     \(difference.shown ?? "no row")
                      computed  \(difference.computed ?? "no row")
                    """
                )
            }
        }
        Console.message(
            "storeledger: \(counted(differences.count, "difference")); the next refresh computes everything from every record"
        )
        throw ExitCode(ExitStatus.completeWithLosses.rawValue)
    }
}
