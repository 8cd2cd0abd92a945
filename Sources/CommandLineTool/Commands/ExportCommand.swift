import ArgumentParser
import FoundationEssentials
import JobPlan
import Ledger
import Pipeline
import Publish

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the job's CSV files again from the ledger, without requests to Apple.",
        discussion: """
            With JOB, directory and tables are those of output.csv in the job file. Without
            JOB, --csv-directory names the directory.

              storeledger export jobs/nightly-sync.yaml
              storeledger export --app com.example.game --csv-directory out \\
                --database postgresql:///ledger
            """
    )

    @OptionGroup var place: AppArgument

    @Option(help: ArgumentHelp("Without JOB: the directory of the files, of your own.", valueName: "DIR"))
    var csvDirectory: String?

    @Option(
        help: ArgumentHelp(
            "Without JOB: the tables, with commas (default: \(CSVOutput.defaultTables.joined(separator: ","))).",
            valueName: "NAMES"
        )
    )
    var tables: String?

    func validate() throws {
        if place.ledger.path != nil {
            guard csvDirectory == nil, tables == nil else {
                throw ValidationError("Use --csv-directory and --tables only without JOB: the job file has output.csv.")
            }
        } else {
            _ = try csv()
        }
    }

    func run() async throws {
        try await perform(job: place.ledger.path) {
            let manifest: Manifest
            switch try place.source() {
            case .job(let pipeline):
                manifest = try await pipeline.export()
            case .ledger(let reader):
                let (app, job) = try await place.appAndJob(in: reader)
                manifest = try await reader.export(try csv(), job: job, app: app)
            }
            for file in manifest.files { Console.result("\(file.file): \(file.rows) rows, \(file.bytes) bytes") }
        }
    }

    /// The directory and tables that the options name.
    private func csv() throws -> CSVOutput {
        guard let csvDirectory else { throw ValidationError("Without JOB, --csv-directory is needed.") }
        let absolute =
            csvDirectory.hasPrefix("/")
            ? csvDirectory : FileManager.default.currentDirectoryPath + "/" + csvDirectory
        guard CSVOutput.isOwnDirectory(csvDirectory, absolute: absolute) else {
            throw ValidationError("--csv-directory must be a directory of your own, without .. in its path.")
        }
        let names = tables?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for name in names ?? [] where !CSVOutput.knownTables.contains(name) {
            throw ValidationError("--tables names \(name), which is not a table that can be exported.")
        }
        if let names, Set(names).count < names.count { throw ValidationError("--tables names a table twice.") }
        return CSVOutput(directory: absolute, tables: names ?? CSVOutput.defaultTables)
    }
}
