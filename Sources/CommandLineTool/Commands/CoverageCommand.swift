import AppStoreModel
import ArgumentParser
import Basics
import JobFiles
import Ledger
import Pipeline
import Status

struct CoverageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage",
        abstract: "Show for each stream until when its history is complete, and gaps Apple can no longer fill.",
        discussion: """
            A gap is a period of time that Apple no longer served when it was requested.
            "omits" names what Apple leaves out of its answers: a version 1 that the job
            file requests returns less than version 2. --all lists each ID and window.

              storeledger coverage jobs/nightly-sync.yaml
              storeledger coverage jobs/nightly-sync.yaml --all
              storeledger coverage jobs/nightly-sync.yaml --all --json | grep '"gaps":\\["'
              storeledger coverage --database postgresql:///ledger
            """
    )

    @OptionGroup var place: AppArgument

    @Flag(help: "List each ID and window instead of a summary.")
    var all = false

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func run() async throws {
        try await perform(job: place.ledger.path, onlyReads: true) {
            switch try place.source() {
            case .jobs(let file, let pipelines):
                try await file.forEach(pipelines) { pipeline in
                    let (job, ledger) = (pipeline.job, pipeline.ledger)
                    try await ledger.open()
                    guard let id = try await pipeline.knownApp(), try await ledger.jobs(of: id).contains(job.name)
                    else {
                        let app = pipelines.count > 1 ? "\(job.app.bundleId): " : ""
                        return Console.message("\(app)\(job.name) has never run")
                    }
                    let app = KnownApp(id: id, bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
                    try await show(job.name, of: app, in: ledger, named: pipelines.count > 1)
                }
            case .ledger(let ledger):
                let all = try await place.everyAppAndJob(in: ledger)
                for (app, job) in all { try await show(job, of: app, in: ledger, named: all.count > 1) }
            }
        }
    }

    /// - Parameter named: Whether lines about items need a heading with the app.
    private func show(_ job: String, of app: KnownApp, in ledger: Ledger, named: Bool) async throws {
        if all, named, !json { Console.result("\(job): \(app.bundleId) (\(app.environment))") }
        if all { return try await ledger.coverage(of: job, app: app.id, line) }
        try show(try await ledger.coverageSummary(of: job, app: app))
    }

    private func show(_ streams: [StreamCoverage]) throws {
        if json { return try streams.forEach { Console.result(try JSONOutput.line($0)) } }
        if let first = streams.first { Console.result("\(first.job): \(first.app) (\(first.environment))") }
        for stream in streams { Console.result("  \(Self.text(of: stream))") }
        for stream in streams.lazy.filter({ $0.customersSince != nil }).prefix(1) {
            guard let since = stream.customersSince else { continue }
            Console.result("  \(missingCustomers(since: since, list: stream.largestList))")
        }
    }

    private static func text(of stream: StreamCoverage) -> String {
        var parts = ["\(stream.stream): \(counted(stream.items, "item"))"]
        switch (stream.completeUntil, stream.newestCompleteUntil) {
        case (nil, _): parts.append("never complete")
        case (let until?, let newest?) where newest != until:
            parts.append("complete until \(until), the newest until \(newest)")
        case (let until?, _): parts.append("complete until \(until)")
        }
        for (number, words) in [
            (stream.unfinished, "not finished"), (stream.failed, "failed"), (stream.unknownIds, "unknown to Apple"),
        ] where number > 0 { parts.append("\(number) \(words)") }
        if stream.neverComplete > 0, stream.completeUntil != nil {
            parts.append("\(stream.neverComplete) never complete")
        }
        if let from = stream.gapsFrom, let to = stream.gapsTo {
            parts.append("\(counted(stream.gaps, "gap")) from \(from) to \(to)")
        }
        if let omits = stream.omits { parts.append("omits \(omits.joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }

    /// Shows one item.
    ///
    /// - Returns: Whether there is a reader for more.
    private var line: @Sendable (ItemCoverage) -> Bool {
        let json = json
        return { item in
            if json, let line = try? JSONOutput.line(item) {  // strings always encode
                Console.result(line)
            } else {
                Console.result(Self.text(of: item))
            }
            return !Console.isClosed
        }
    }

    private static func text(of item: ItemCoverage) -> String {
        let until = item.completeUntil.map { "complete until \($0)" } ?? "never complete"
        let gaps = item.gaps.isEmpty ? "" : "; gaps \(item.gaps.joined(separator: ", "))"
        let name = itemName(item.item)
        // The name of a window already contains it.
        let window =
            name == item.item ? item.windowStart.map { ", window \($0) to \(item.windowEnd ?? "")" } ?? "" : ""
        let omits = item.omits.map { "; omits \($0.joined(separator: ", "))" } ?? ""
        return "\(item.stream) \(name): \(until) (\(item.state)\(window))\(gaps)\(omits)"
    }
}
