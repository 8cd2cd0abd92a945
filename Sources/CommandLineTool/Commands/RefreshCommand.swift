import ArgumentParser
import Basics
import Ledger
import Pipeline

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Bring the views up to date; run, replay and erase do this themselves.",
        discussion: """
            Use it after filling the table products, or after a restore. Queries that read
            the views during the refresh see the old figures. It computes what changed
            since the last refresh.

            --verify then computes everything from every record. It prints each row that
            was different, and ends with exit code 2 if there is one; the views then show
            the computed rows.

              storeledger refresh jobs/nightly-sync.yaml
              storeledger refresh --verify --json
            """
    )

    @OptionGroup var ledger: LedgerArgument

    @Flag(help: "Compute everything from every record, not only what changed.")
    var full = false

    @Flag(help: "Compare the views with a computation from every record; exit code 2 on a difference.")
    var verify = false

    @Flag(help: "Write one JSON document to stdout: what was done, or with --verify an array of differences.")
    var json = false

    func run() async throws {
        try await perform(job: ledger.path) {
            let ledger = try ledger.address().ledger()
            try await ledger.openToWrite()
            if full || !verify {
                let report = try await ledger.recordingFailure { try await ledger.refreshViews(everything: full) }
                if !verify { try show(report) }
            }
            if verify { try show(try await ledger.verifyViews()) }
        }
    }

    private func show(_ report: RefreshReport) throws {
        if json { return Console.result(try JSONOutput.document(report)) }
        Console.result(
            "subscriptions and other purchases computed: \(report.purchases)\(report.everything ? " (all)" : ""), in \(report.milliseconds) ms"
        )
        Console.result("views with changed figures:\(report.views.isEmpty ? " none" : "")")
        for view in report.views { Console.result("  \(view)") }
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
            "storeledger: \(counted(differences.count, "difference")); the views show the computed rows now"
        )
        throw ExitCode(ExitStatus.completeWithLosses.rawValue)
    }
}
