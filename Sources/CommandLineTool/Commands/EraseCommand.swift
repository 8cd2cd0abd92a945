import AppStoreModel
import ArgumentParser
import Basics
import Erasure
import JobFiles
import Ledger
import LedgerSchema
import Pipeline
import Platform
import StrictJSON

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
                if let erasure = try await eraseAgain(in: pipeline) { show(erasure) }
                if erasures.isEmpty, !json { Console.result("\(name): no records of erased customers are left") }
            } else {
                try await confirm(pipeline)
                try await erase(in: pipeline, dryRun: dryRun, done: show)
            }
            var warnings: [String] = []
            if !dryRun {
                if let warning = await renewStatistics(of: pipeline.ledger) { warnings.append(warning) }
                if let warning = await pipeline.refreshAfterwards(evenIfFresh: true) { warnings.append(warning) }
            }
            for warning in warnings { Console.message("storeledger: \(warning)") }
            let published = dryRun ? [] : try await publishWithoutErased(pipeline)
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
    /// - Throws: ``UnknownCustomers``; exit code 75 without a confirmation. Nothing is changed then.
    private func confirm(_ pipeline: Pipeline) async throws {
        guard asks || !unknown else { return }
        var found: [ErasureSummary] = []
        try await erase(in: pipeline, dryRun: true) { found.append($0) }
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

    /// Erases customers, each in a separate transaction: all of a customer's records or none.
    ///
    /// - Parameters:
    ///   - dryRun: Whether to count only.
    ///   - done: Called after each customer's transaction has committed.
    /// - Throws: Errors that ``Pipeline/Failure/init(_:)`` explains. The customers before the failed one are erased.
    private func erase(in pipeline: Pipeline, dryRun: Bool, done: (ErasureSummary) -> Void) async throws {
        try await pipeline.ledger.openToWrite()
        // Creates the app if the ledger lacks it. Then the tombstones are stored even before its first records.
        _ = try await pipeline.ownApp()
        let apps = try await apps(of: pipeline)
        for ids in try customers() {
            try Task.checkCancellation()
            done(try await pipeline.ledger.erase(ids, in: apps, dryRun: dryRun))
        }
    }

    /// Erases again the customers whose records came back with a restored backup.
    ///
    /// Their tombstones identify them.
    ///
    /// - Returns: `nil` if there are no such customers.
    private func eraseAgain(in pipeline: Pipeline) async throws -> ErasureSummary? {
        let ledger = pipeline.ledger
        try await ledger.openToWrite()
        let apps = try await apps(of: pipeline)
        var ids: Set<CustomerID> = []
        for app in apps { ids.formUnion(try await ledger.returnedErasedIDs(in: app)) }
        let summary = try await ledger.erase(ids, in: apps, dryRun: dryRun)
        return summary.removed.isEmpty ? nil : summary
    }

    /// The job's app in every environment in which the ledger has records, whichever job loaded them.
    private func apps(of pipeline: Pipeline) async throws -> [AppID] {
        let bundleId = pipeline.job.app.bundleId
        return try await pipeline.ledger.knownApps().filter { $0.bundleId.isByteEqual(to: bundleId) }.map(\.id)
    }

    /// Renews PostgreSQL's statistics, which can contain values of erased customers.
    ///
    /// The erasure is already committed, so the command goes on after a failure, and ends with 2.
    ///
    /// - Returns: A message if the statistics were not renewed.
    private func renewStatistics(of ledger: Ledger) async -> String? {
        do {
            try await ledger.renewStatistics()
            return nil
        } catch {
            if let stale = error as? StaleStatistics { return Failure(stale).message }
            return "the planner's statistics can contain values of erased customers: \(Failure(error).message)"
                + "; storeledger refresh renews them"
        }
    }

    /// How long to wait for another process that writes the files; then the command fails without updating them.
    private static let publishTimeout = Duration.seconds(60)

    /// Publishes the job's files again without the erased customers; waits for a run that is writing them.
    ///
    /// - Returns: Empty if the job publishes no files.
    private func publishWithoutErased(_ pipeline: Pipeline) async throws -> [PublishedFiles] {
        let outputs = pipeline.job.output.files
        guard !outputs.isEmpty else { return [] }
        let time = Timekeeper.system
        let began = time.monotonic()
        while true {
            do {
                return try await pipeline.publishAgain(outputs)
            } catch LedgerError.directoryInUse where time.monotonic() - began < Self.publishTimeout {
                try await time.sleep(.seconds(1))
            }
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

/// Customers of whom the ledger has neither a record nor a tombstone, so that their IDs may be mistyped.
private struct UnknownCustomers: ExplainedError {
    let count: Int

    var status: ExitStatus { .badInput }

    var sentence: String {
        "the ledger has no records of \(count == 1 ? "this customer" : "\(count) of these customers"), so nothing was erased. Check the ID. To withhold records that arrive later, add --unknown"
    }
}
