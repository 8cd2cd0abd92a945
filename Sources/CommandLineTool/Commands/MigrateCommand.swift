import ArgumentParser
import Basics
import JobFiles
import Ledger
import Migrations
import Pipeline

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create or update the job's schema: tables, functions, comments, views.",
        discussion: "  storeledger migrate jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    @Option(
        help: ArgumentHelp(
            "Hash partitions of each large table, from 2 to 256; only while the ledger is empty.",
            discussion: "Decided once for a ledger. Without it a new ledger has plain tables.",
            valueName: "N"
        )
    )
    var partitions: Int?

    func validate() throws {
        guard let partitions, !Partitioning.counts.contains(partitions) else { return }
        throw ValidationError(
            "--partitions must be from \(Partitioning.counts.lowerBound) to \(Partitioning.counts.upperBound), not \(partitions)."
        )
    }

    func run() async throws {
        try await perform(job: job.path) {
            let ledger = try LedgerAddress(of: try job.loadEach(.any)[0]).ledger(sessions: 2)
            let directory = try SQLDirectory.find()
            try await ledger.connect()
            try await ledger.requirePrimary()
            let changes = try await Migrator(ledger: ledger, directory: directory).migrate(partitions: partitions)
            // Outside the migration's transaction, because it takes minutes for a large ledger and would
            // block other sessions.
            let refresh = try await ledger.recordingFailure { try await ledger.refreshRedefinedViews() }
            MigrationText(schema: ledger.schema, changes: changes, refresh: refresh).lines.forEach(Console.result)
        }
    }
}

/// The output of `migrate`: one line for each change; for a new schema, only how much was created.
struct MigrationText {
    let schema: String
    let changes: Migrator.Report
    /// The refresh that a changed definition made necessary.
    let refresh: RefreshReport?

    var lines: [String] {
        // In a new schema everything is new, and an index that a later migration replaces was empty.
        var lines: [String] = []
        if changes.isNew {
            if let last = changes.applied.max() {
                lines.append("applied \(counted(changes.applied.count, "migration")); the last one is \(last)")
            }
        } else {
            lines += changes.applied.map { "applied \($0)" }
            lines += changes.indexesBuilt.map { "built index \($0)" }
            lines += changes.indexesDropped.map { "dropped index \($0)" }
            lines += changes.definitions.filter { $0.hasPrefix("functions/") }.map { "applied \($0)" }
            lines += changes.views.made.map { "created view \($0)" }
            lines += changes.views.dropped.map { "dropped view \($0)" }
            if refresh != nil { lines.append("computed the figures of all views") }
        }
        if let partitions = changes.partitions {
            let tables = Partitioning.keys.map(\.table).joined(separator: ", ")
            lines.append("divided into \(partitions) partitions each: \(tables)")
        }
        return lines + ["schema \"\(schema)\" \(state)"]
    }

    private var state: String {
        let unchanged = "\(counted(changes.views.unchanged, "view")) unchanged"
        if changes.isNew { return "is new; \(counted(changes.views.made.count, "view")) created" }
        if changes.changedNothing, refresh == nil { return "was up to date; nothing to do" }
        return "is up to date; \(unchanged)"
    }
}
