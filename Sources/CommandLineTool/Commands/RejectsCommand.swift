import ArgumentParser
import Basics
import JobFiles
import Ledger
import Pipeline
import Publish
import Status

struct RejectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejects",
        abstract: "List, export or dismiss the rejected records of a job.",
        discussion: """
            Lists records that were neither loaded later nor dismissed. export writes them
            with their texts as JSON lines into a file that only you can read. dismiss
            takes them out of status, metrics and exit codes for good: a later run that
            receives the same record again does not count it, even if Apple has signed it
            again. replay --rejected still tries dismissed records.

              storeledger rejects jobs/nightly-sync.yaml
              storeledger rejects jobs/nightly-sync.yaml list --json
              storeledger rejects jobs/nightly-sync.yaml export rejects.jsonl
              storeledger rejects jobs/nightly-sync.yaml dismiss 17 18
              storeledger rejects jobs/nightly-sync.yaml dismiss --all
            """
    )

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, export, dismiss
    }

    @OptionGroup var job: JobArgument

    @Argument(help: ArgumentHelp("list, export or dismiss.", valueName: "ACTION"))
    var action: Action = .list

    @Argument(
        help: ArgumentHelp("For export, the file; for dismiss, the IDs that list shows.", valueName: "FILE or ID")
    )
    var values: [String] = []

    @Flag(help: "With dismiss: all records that list shows.")
    var all = false

    @Flag(help: "With list: write one JSON object per line.")
    var json = false

    func validate() throws {
        if json, action != .list { throw ValidationError("Use --json only with list.") }
        if all, action != .dismiss { throw ValidationError("Use --all only with dismiss.") }
        switch action {
        case .list:
            if let value = values.first { throw ValidationError("list takes no argument; remove \(value).") }
        case .export:
            if values.count != 1 { throw ValidationError("Name one file: storeledger rejects JOB export FILE.") }
        case .dismiss:
            if all != values.isEmpty {
                throw ValidationError("Name the IDs of records that list shows, or use --all.")
            }
            _ = try ids()
        }
    }

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let name = pipeline.job.name
            switch action {
            case .list: try await list(pipeline)
            case .export:
                let count = try await export(pipeline, to: values[0])
                Console.result("\(values[0]): \(counted(count, "rejected record")) of \(name)")
            case .dismiss:
                let count = try await dismiss(all ? nil : try ids(), pipeline)
                Console.result("\(name): dismissed \(counted(count, "rejected record"))")
            }
        }
    }

    /// Shows the job's rejected records that were neither loaded later nor dismissed, oldest first.
    private func list(_ pipeline: Pipeline) async throws {
        try await pipeline.ledger.open()
        let app = try await pipeline.knownApp()
        var last: Int64 = 0
        var batch: [RejectedRow] = []
        repeat {
            guard let app else { break }
            batch = try await pipeline.ledger.rejects(
                of: pipeline.job.name,
                app: app,
                after: last,
                atMost: 1_000,
                withText: false
            )
            try batch.forEach(show)
            last = batch.last?.id ?? last
        } while !batch.isEmpty
        if last == 0, !json { Console.result("\(pipeline.job.name): no rejected records") }
    }

    private func show(_ reject: RejectedRow) throws {
        if json { return Console.result(try JSONOutput.line(reject)) }
        Console.result("\(reject.id): \(reject.reason): \(reject.detail)")
        Console.result(
            "  \(reject.stream) \(itemName(reject.item)), \(reject.environment), received in \(counted(reject.seen, "run")), "
                + "last \(reject.lastSeenAt)"
        )
    }

    /// Writes the same records with their texts as JSON lines into a file with mode 0600.
    ///
    /// - Returns: The number of records.
    private func export(_ pipeline: Pipeline, to path: String) async throws -> Int {
        try await pipeline.ledger.open()
        let app = try await pipeline.knownApp()
        var last: Int64 = 0
        var count = 0
        try await publishFile(at: path) {
            guard let app else { return nil }
            let batch = try await pipeline.ledger.rejects(
                of: pipeline.job.name,
                app: app,
                after: last,
                // A text has up to 256 KiB.
                atMost: 100,
                withText: true
            )
            guard let end = batch.last else { return nil }
            last = end.id
            count += batch.count
            return try batch.flatMap { Array((try JSONOutput.line($0) + "\n").utf8) }
        }
        return count
    }

    /// - Parameter ids: The records; `nil` for all that ``list(_:)`` shows.
    /// - Returns: The number of dismissed texts.
    private func dismiss(_ ids: [Int64]?, _ pipeline: Pipeline) async throws -> Int {
        try await pipeline.ledger.openToWrite()
        guard let app = try await pipeline.knownApp() else {
            if let ids { throw UnknownRejects(ids: ids) }
            return 0
        }
        return try await pipeline.ledger.dismiss(ids, of: pipeline.job.name, app: app)
    }

    private func ids() throws -> [Int64] {
        try values.map { text in
            guard let id = Int64(text), id > 0 else {
                throw ValidationError("\(text) is not the ID of a rejected record; list shows them.")
            }
            return id
        }
    }
}
