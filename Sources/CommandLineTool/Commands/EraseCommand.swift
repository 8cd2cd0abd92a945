import AppStoreModel
import ArgumentParser
import Basics
import Erasure
import Glibc
import JobPlan
import Ledger
import Pipeline
import Publish

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Remove a customer's records, and withhold them from later crawls.",
        discussion: """
            Identify the customer by any transaction ID or original transaction ID, or by
            the app account token. Removes all records linked to these IDs, in every
            environment of the app: see docs/guides/erasure.md. On a terminal the command
            shows what it will remove and asks; elsewhere it needs --yes. An ID without
            records in the ledger is refused, unless it was erased before; --unknown
            accepts it, and records that arrive later are withheld. Use --reapply after
            restoring an older backup.

              storeledger erase nightly.yaml --transaction-id 2000000123456789 --dry-run
              storeledger erase nightly.yaml --transaction-id 2000000123456789
              storeledger erase nightly.yaml --yes \\
                --app-account-token 7e3fb20b-4cdb-47cc-936d-99d65f608138
              storeledger erase nightly.yaml --reapply
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("A customer's transaction ID; can be repeated for other customers.", valueName: "ID"))
    var transactionId: [String] = []

    @Option(help: ArgumentHelp("A customer's appAccountToken; can be repeated.", valueName: "UUID"))
    var appAccountToken: [String] = []

    @Flag(help: "Repeat earlier erasures for customers whose records are in the ledger again.")
    var reapply = false

    @Flag(help: "Count the records to remove; remove nothing.")
    var dryRun = false

    @Flag(help: "Do not ask before removing records.")
    var yes = false

    @Flag(help: "Also accept IDs without records in the ledger; records that arrive later are withheld.")
    var unknown = false

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func validate() throws {
        guard reapply != !(transactionId.isEmpty && appAccountToken.isEmpty) else {
            throw ValidationError("Name customers with --transaction-id or --app-account-token, or use --reapply.")
        }
        _ = try customers()
        if asks, isatty(STDIN_FILENO) != 1 || !Console.isTerminal {
            throw ValidationError("Without a terminal, erase needs --yes; --dry-run counts the records first.")
        }
    }

    /// Whether a person has to confirm; `--reapply` repeats erasures that were confirmed before.
    private var asks: Bool { !dryRun && !reapply && !yes }

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let name = pipeline.job.name
            var erasures: [ErasureSummary] = []
            // Each erasure is reported as soon as it is durable, because the next one or the CSV export can fail.
            let show = { (erasure: ErasureSummary) in
                erasures.append(erasure)
                if !json { lines(erasure, job: name, isDone: !dryRun).forEach(Console.result) }
            }
            if reapply {
                if let erasure = try await pipeline.eraseAgain(isRehearsal: dryRun) { show(erasure) }
                if erasures.isEmpty, !json { Console.result("\(name): no records of erased customers are left") }
            } else {
                try await confirm(pipeline)
                try await pipeline.erase(try customers(), isRehearsal: dryRun, done: show)
            }
            var warnings: [String] = []
            if !dryRun {
                if let warning = await pipeline.renewStatisticsAfterwards() { warnings.append(warning) }
                if let warning = await pipeline.refreshAfterwards(evenIfFresh: true) { warnings.append(warning) }
            }
            for warning in warnings { Console.message("storeledger: \(warning)") }
            let published = dryRun ? [] : try await pipeline.publishWithoutErased()
            if json {
                let report = Report(
                    job: name,
                    dryRun: dryRun,
                    customers: erasures,
                    warnings: warnings.isEmpty ? nil : warnings
                )
                Console.result(try JSONOutput.document(report))
            } else {
                for files in published {
                    let output = files.output
                    Console.result(
                        "\(output.format.title) written again in \(output.directory): \(files.fileList)"
                    )
                }
            }
            if !warnings.isEmpty { throw ExitCode(ExitStatus.completeWithLosses.rawValue) }
        }
    }

    /// Refuses unknown customers, and asks before records are removed.
    ///
    /// - Throws: ``Pipeline/UnknownCustomers``; exit code 75 without a confirmation. Nothing is changed then.
    private func confirm(_ pipeline: Pipeline) async throws {
        guard asks || !unknown else { return }
        var found: [ErasureSummary] = []
        try await pipeline.erase(try customers(), isRehearsal: true) { found.append($0) }
        let unknownCount = found.filter(\.isOfUnknownCustomer).count
        if unknownCount > 0, !unknown { throw UnknownCustomers(count: unknownCount) }
        guard asks else { return }
        for erasure in found { lines(erasure, job: pipeline.job.name, isDone: false).forEach(Console.message) }
        Console.raw("This cannot be undone. Type yes to erase: ")
        guard readLine() == "yes" else {
            Console.message("storeledger: nothing was erased")
            throw ExitCode(ExitStatus.workLeft.rawValue)
        }
    }

    /// The lines do not contain IDs, because this output is often stored in logs.
    private func lines(_ erasure: ErasureSummary, job: String, isDone: Bool) -> [String] {
        guard !erasure.removed.isEmpty else {
            return [
                !isDone
                    ? "\(job): the ledger has no records of this customer"
                    : "\(job): the ledger has no records of this customer; records that arrive later are withheld"
            ]
        }
        var lines = ["\(job): \(isDone ? "removed" : "would remove") all records of this customer"]
        for count in erasure.removed {
            lines.append("  \(padded(count.table, to: 28))\(count.rows)")
        }
        return lines
    }

    private func customers() throws -> [Set<CustomerID>] {
        let transactions = try transactionId.map { text in
            guard let id = TransactionID(text) else {
                throw ValidationError("--transaction-id must be 1 to 20 digits.")
            }
            return CustomerID.transaction(id)
        }
        let accounts = try appAccountToken.map { text in
            guard let id = CustomerID.account(anyForm: text) else {
                throw ValidationError("--app-account-token must be a UUID, and not the nil UUID.")
            }
            return id
        }
        return (transactions + accounts).map { [$0] }
    }
}

/// `erase --json`; documented in `docs/reference/json.md` and stable.
private struct Report: Encodable {
    let job: String
    let dryRun: Bool
    let customers: [ErasureSummary]
    /// What could not be done after the erasure; `nil` if nothing.
    let warnings: [String]?
}
