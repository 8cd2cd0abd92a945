import ArgumentParser
import JobPlan
import Ledger
import Pipeline

struct CoverageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage",
        abstract: "Show for each ID and day until when the history is complete, and gaps Apple can no longer fill.",
        discussion: """
            A gap is a period of time that Apple no longer served when it was requested. Behind "omits" is what Apple leaves
            out of its answers: a version 1 that the job file requests returns less than version 2.

              storeledger coverage jobs/nightly-sync.yaml
              storeledger coverage jobs/nightly-sync.yaml --json | grep '"gaps":\\["'
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func run() async throws {
        try await perform(job: job.path) {
            let json = json
            let pipeline = try job.pipeline()
            let hasRun = try await pipeline.coverage { item in
                if json, let line = try? JSONOutput.line(item) {  // strings always encode
                    return Console.result(line)
                }
                let until = item.completeUntil.map { "complete until \($0)" } ?? "never complete"
                let gaps = item.gaps.isEmpty ? "" : "; gaps \(item.gaps.joined(separator: ", "))"
                let name = itemName(item.item)
                // The name of a window already contains it.
                let window =
                    name == item.item ? item.windowStart.map { ", window \($0) to \(item.windowEnd ?? "")" } ?? "" : ""
                let omits = item.omits.map { "; omits \($0.joined(separator: ", "))" } ?? ""
                Console.result("\(item.stream) \(name): \(until) (\(item.state)\(window))\(gaps)\(omits)")
            }
            if !hasRun { Console.message("\(pipeline.job.name) has never run") }
        }
    }
}
