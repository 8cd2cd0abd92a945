import ArgumentParser
import FoundationEssentials
import JobPlan
import Ledger
import Pipeline
import Publish

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the job's files again from the ledger, without requests to Apple.",
        discussion: """
            With JOB, directories and tables are those of output.csv and output.parquet in
            the job file, and --format selects one of them. Without JOB, --directory names
            the directory.

              storeledger export jobs/nightly-sync.yaml
              storeledger export --app com.example.game --directory out --format parquet \\
                --database postgresql:///ledger
            """
    )

    @OptionGroup var place: AppArgument

    @Option(help: ArgumentHelp("csv or parquet (default: all of JOB; without JOB csv).", valueName: "FORMAT"))
    var format: FileFormat?

    @Flag(help: "With JOB: add a part with the rows that changed since the last one, and tombstones.")
    var changes = false

    @Option(
        name: [.long, .customLong("csv-directory")],
        help: ArgumentHelp("Without JOB: the directory of the files, of your own.", valueName: "DIR")
    )
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "Without JOB: the tables, with commas (default: \(FileOutput.defaultTables.joined(separator: ","))).",
            valueName: "NAMES"
        )
    )
    var tables: String?

    func validate() throws {
        if place.ledger.path != nil {
            guard directory == nil, tables == nil else {
                throw ValidationError("Use --directory and --tables only without JOB: the job file has output.")
            }
        } else {
            guard !changes else { throw ValidationError("--changes needs JOB.") }
            _ = try output()
        }
    }

    func run() async throws {
        try await perform(job: place.ledger.path) {
            let files: [Manifest.File]
            switch try place.source() {
            case .job(let pipeline):
                let published = try await pipeline.export(format, changes: changes)
                for unchanged in published where unchanged.files.isEmpty {
                    Console.result("\(unchanged.output.format.title): no changes since the last part")
                }
                files = published.flatMap(\.files)
            case .ledger(let ledger):
                let (app, job) = try await place.appAndJob(in: ledger)
                let roots = try await ledger.trustedRoots(of: app.id)
                let order = PublishOrder(try output(), job: job, run: nil, trustedRoots: roots)
                files = try await ledger.publish(order, of: app.id).files
            }
            for file in files {
                Console.result("\(file.file): \(file.rows) rows, \(file.bytes) bytes")
            }
        }
    }

    /// What the options ask for.
    private func output() throws -> FileOutput {
        guard let directory else { throw ValidationError("Without JOB, --directory is needed.") }
        let absolute =
            directory.hasPrefix("/") ? directory : FileManager.default.currentDirectoryPath + "/" + directory
        guard FileOutput.isOwnDirectory(directory, absolute: absolute) else {
            throw ValidationError("--directory is \(directory); \(FileOutput.directoryRule).")
        }
        let names = tables?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for name in names ?? [] where !FileOutput.knownTables.contains(name) {
            let known = FileOutput.knownTables.sorted().joined(separator: ", ")
            throw ValidationError(
                "--tables names \(name), which is not a table that can be exported. These can: \(known)."
            )
        }
        if let names, Set(names).count < names.count { throw ValidationError("--tables names a table twice.") }
        return FileOutput(format ?? .csv, directory: absolute, tables: names ?? FileOutput.defaultTables)
    }
}

extension FileFormat: ExpressibleByArgument {}
