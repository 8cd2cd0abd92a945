import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import Ledger
import Pipeline
import Publish

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the job's files again from the ledger, without requests to Apple.",
        discussion: """
            With JOB, output.csv and output.parquet in the job file name directories and
            tables, and --format selects one of them. Without JOB, --directory names the
            directory.

              storeledger export jobs/nightly-sync.yaml
              storeledger export --app com.example.game --directory out --format parquet \\
                --database postgresql:///ledger
              storeledger export --all-apps --directory out \\
                --database postgresql:///ledger
            """
    )

    @OptionGroup var place: AppArgument

    @Flag(help: "Without JOB: files with the rows of every app; bundle_id and environment tell them apart.")
    var allApps = false

    @Option(help: ArgumentHelp("csv or parquet (default: all of JOB; without JOB csv).", valueName: "FORMAT"))
    var format: FileFormat?

    @Flag(help: "With JOB: add a part with the rows that changed since the last one, and the keys of deleted rows.")
    var changes = false

    @Option(
        name: [.long, .customLong("csv-directory")],
        help: ArgumentHelp("Without JOB: a directory for these files alone, or s3://BUCKET/PREFIX.", valueName: "DIR")
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
        if allApps, place.ledger.path != nil || place.app != nil || place.jobName != nil {
            throw ValidationError("Use --all-apps without JOB, --app and --job: it writes every app.")
        }
        if place.ledger.path != nil {
            guard directory == nil, tables == nil else {
                throw ValidationError("Use --directory and --tables only without JOB: the job file has output.")
            }
        } else {
            guard !changes else { throw ValidationError("--changes needs JOB.") }
            // A URL ends with another exit code, which `validate` cannot give.
            do { _ = try output() } catch is WrongPlace {}
        }
    }

    func run() async throws {
        try await perform(job: place.ledger.path) {
            switch try place.source() {
            case .jobs(let file, let pipelines):
                try await file.forEach(pipelines) { pipeline in
                    let published = try await pipeline.publishAgain(try outputs(of: pipeline.job))
                    for unchanged in published where unchanged.files.isEmpty {
                        Console.result("\(unchanged.output.format.title): no changes since the last part")
                    }
                    show(published.flatMap(\.files), of: pipelines.count > 1 ? pipeline.job.app.bundleId : nil)
                }
            case .ledger(let ledger) where allApps:
                show(try await publishAll(from: ledger), of: nil)
            case .ledger(let ledger):
                let (app, job) = try await place.appAndJob(in: ledger)
                let roots = try await ledger.trustedRoots(of: app.id)
                let order = PublishOrder(try output(), job: job, run: nil, trustedRoots: roots)
                show(try await ledger.publish(order, of: app.id).files, of: nil)
            }
        }
    }

    /// - Parameter app: One of several; `nil` for the only one.
    private func show(_ files: [Manifest.File], of app: String?) {
        let prefix = app.map { "\($0): " } ?? ""
        for file in files { Console.result("\(prefix)\(file.file): \(file.rows) rows, \(file.bytes) bytes") }
    }

    /// Publishes files with the rows of every app.
    private func publishAll(from ledger: Ledger) async throws -> [Manifest.File] {
        let all = try await place.everyAppAndJob(in: ledger)
        var roots: Set<String> = []
        for (app, _) in all { roots.formUnion(try await ledger.trustedRoots(of: app.id)) }
        let order = PublishOrder(
            try output(),
            job: Set(all.map(\.job)).sorted().joined(separator: ", "),
            run: nil,
            trustedRoots: roots.sorted(),
            furtherApps: all.dropFirst().map(\.app.id)
        )
        return try await ledger.publish(order, of: all[0].app.id).files
    }

    /// The files of a job that the options ask for.
    ///
    /// - Throws: ``NothingToExport``, ``ChangesNotLogged``.
    private func outputs(of job: JobFile) throws -> [FileOutput] {
        let outputs = job.output.files.filter { $0.format == format ?? $0.format }
        guard !outputs.isEmpty else { throw NothingToExport(format: format ?? .csv) }
        guard changes else { return outputs }
        for output in outputs {
            let other = output.tables.first { !FileOutput.tablesWithChanges.contains($0) }
            if let other { throw ChangesNotLogged(table: other) }
        }
        return outputs.map(\.withChanges)
    }

    /// The files that the options ask for without a job.
    private func output() throws -> FileOutput {
        guard let directory else { throw ValidationError("Without JOB, --directory is needed.") }
        let absolute =
            directory.hasPrefix("/") ? directory : FileManager.default.currentDirectoryPath + "/" + directory
        guard let place = FileOutput.place(directory, absolute: absolute) else {
            let problem = "--directory is \(directory); \(FileOutput.rule(for: directory))."
            if urlScheme(of: directory) != nil { throw WrongPlace(sentence: problem) }
            throw ValidationError(problem)
        }
        let names = tables?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for name in names ?? [] where !FileOutput.knownTables.contains(name) {
            let known = FileOutput.knownTables.sorted().joined(separator: ", ")
            throw ValidationError(
                "--tables names \(name), which is not a table that can be exported. These can: \(known)."
            )
        }
        if let names, Set(names).count < names.count { throw ValidationError("--tables names a table twice.") }
        return FileOutput(format ?? .csv, directory: place, tables: names ?? FileOutput.defaultTables)
    }
}

/// Thrown by `export --changes` for a job with a table whose changes are not logged.
private struct ChangesNotLogged: ExplainedError {
    let table: String

    var sentence: String {
        "the changes of \(table) cannot be published; leave it out of tables, or export without --changes"
    }

    var status: ExitStatus { .badInput }
}

/// Thrown by `export` for a URL that is no bucket.
private struct WrongPlace: ExplainedError {
    let sentence: String
    let status = ExitStatus.badInput
}

/// Thrown by `export` for a job that publishes no files, or none in the format.
private struct NothingToExport: ExplainedError {
    let format: FileFormat

    var sentence: String {
        "the job file has no output.\(format.rawValue); add one, such as "
            + "\(format.rawValue): {directory: out, tables: [transactions]}"
    }

    var status: ExitStatus { .badInput }
}

extension FileFormat: ExpressibleByArgument {}
