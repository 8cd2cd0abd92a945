import AppStoreModel
import ArgumentParser
import ExportPipeline
import JobPlan
import Ledger
import Publish

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Remove a customer's records, and keep them from coming back with the next crawl.",
        discussion: """
            Names the customer by any transaction ID, original ones included, or by the
            app's own token for the customer. Everything those IDs lead to goes, in every
            environment the ledger has records of the app from: see docs/guides/erasure.md.
            Finding nothing is no failure: what comes later is withheld.
            --reapply is for after the restore of an older backup.

              storeledger erase nightly.yaml --transaction-id 2000000123456789 --dry-run
              storeledger erase nightly.yaml --transaction-id 2000000123456789
              storeledger erase nightly.yaml \\
                --app-account-token 7e3fb20b-4cdb-47cc-936d-99d65f608138
              storeledger erase nightly.yaml --reapply
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("A customer's transaction ID; may be given again for other customers.", valueName: "ID"))
    var transactionId: [String] = []

    @Option(help: ArgumentHelp("A customer's appAccountToken; may be given again.", valueName: "UUID"))
    var appAccountToken: [String] = []

    @Flag(help: "Erase again whom the tombstones name, wherever they are still in the ledger.")
    var reapply = false

    @Flag(help: "Count what would be removed; remove nothing.")
    var dryRun = false

    @Flag(help: "One JSON document on stdout.")
    var json = false

    func validate() throws {
        guard reapply != !(transactionId.isEmpty && appAccountToken.isEmpty) else {
            throw ValidationError("Name customers by --transaction-id or --app-account-token, or say --reapply.")
        }
        _ = try customers()
    }

    func run() async throws {
        try await perform {
            let pipeline = try job.pipeline()
            let name = pipeline.job.name
            var erasures: [Erasure] = []
            // What is durable is told at once: the next customer, or the CSV files, can fail by themselves.
            let tell = { (erasure: Erasure) in
                erasures.append(erasure)
                if !json { lines(erasure, job: name).forEach(Console.result) }
            }
            if reapply {
                if let erasure = try await pipeline.eraseAgain(isRehearsal: dryRun) { tell(erasure) }
                if erasures.isEmpty, !json { Console.result("\(name): nothing of erased customers is left") }
            } else {
                try await pipeline.erase(try customers(), isRehearsal: dryRun, done: tell)
            }
            if !dryRun, let stale = await pipeline.renewStatisticsAfterwards() {
                Console.message("storeledger: \(stale)")
            }
            if !dryRun, let stale = await pipeline.refreshAfterwards(evenIfFresh: true) {
                Console.message("storeledger: \(stale)")
            }
            let manifest = dryRun ? nil : try await pipeline.publishWithoutErased()
            if json {
                return Console.result(
                    try JSONOutput.document(Report(job: name, dryRun: dryRun, customers: erasures))
                )
            }
            if let manifest, let directory = pipeline.job.output.csv?.directory {
                let files = manifest.files.map { "\($0.file) (\($0.rows) rows)" }.joined(separator: ", ")
                Console.result("CSV written again in \(directory): \(files)")
            }
        }
    }

    /// The IDs are not repeated: this output ends up in logs.
    private func lines(_ erasure: Erasure, job: String) -> [String] {
        guard !erasure.removed.isEmpty else {
            return [
                dryRun
                    ? "\(job): nothing of this customer is in the ledger"
                    : "\(job): nothing of this customer is in the ledger; what comes later is withheld"
            ]
        }
        var lines = ["\(job): \(dryRun ? "would remove" : "removed") everything of this customer"]
        for count in erasure.removed {
            let space = String(repeating: " ", count: max(1, 28 - count.table.count))
            lines.append("  \(count.table)\(space)\(count.rows)")
        }
        return lines
    }

    private func customers() throws -> [Set<CustomerID>] {
        let transactions = try transactionId.map { text in
            guard let id = TransactionID(text) else {
                throw ValidationError("--transaction-id is not one to twenty digits.")
            }
            return CustomerID.transaction(id)
        }
        let accounts = try appAccountToken.map { text in
            guard let id = CustomerID.account(text) else {
                throw ValidationError("--app-account-token is not a UUID of a customer.")
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
    let customers: [Erasure]
}
