import ArgumentParser
import ExportPipeline
import JobPlan
import Ledger

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "How a job stands: runs, items, failures, rejects, gaps, spent limits.",
        discussion: """
            Read from PostgreSQL alone, so from any machine, whether or not the job is running.

              storeledger status jobs/nightly-sync.yaml
              storeledger status jobs/nightly-sync.yaml --json
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "One JSON document on stdout.")
    var json = false

    func run() async throws {
        try await perform {
            let pipeline = try job.pipeline()
            guard let status = try await pipeline.status() else {
                return Console.result(json ? "null" : "\(pipeline.job.name) has never run")
            }
            if json { return Console.result(try JSONOutput.document(status)) }
            StatusText(status: status).lines.forEach(Console.result)
        }
    }
}

/// `status` for people.
struct StatusText {
    let status: JobStatus

    var lines: [String] {
        var lines = ["\(status.job): \(status.app) (\(status.environment))"]
        for run in status.runs {
            let end = run.finishedAt.map { "finished \($0)" } ?? "unfinished"
            let code = run.exitCode.map { ", exit \($0)" } ?? ""
            lines.append(
                "  run \(run.run): started \(run.startedAt), \(end)\(code)\(run.message.map { ": \($0)" } ?? "")"
            )
            lines.append(
                "    \(run.pages) pages, \(run.requests) requests, \(run.rowsNew) new, \(run.rowsUpdated) updated, "
                    + "\(run.rowsUnchanged) unchanged, \(run.recordsRejected) rejected, \(run.itemsFailed) failed, \(run.gaps) gaps"
            )
        }
        lines.append("  items of the last run")
        for item in status.items {
            lines.append(
                "    \(item.stream): \(item.done) done, \(item.waiting) waiting, \(item.leased) in hand, \(item.failed) failed"
            )
        }
        for failure in status.failures {
            let code = failure.errorCode.map { " (\($0))" } ?? ""
            lines.append(
                "  failed: \(failure.items) of \(failure.stream): \(failure.message)\(code), such as \(failure.example)"
            )
        }
        for reject in status.rejected {
            lines.append("  rejected: \(reject.records) for \(reject.reason), such as: \(reject.detail)")
        }
        for gap in status.gaps {
            lines.append("  gap: \(gap.stream) \(gap.item) from \(gap.from) to \(gap.to): \(gap.reason)")
        }
        for budget in status.budget {
            let closed = budget.closedUntil.map { ", closed until \($0)" } ?? ""
            lines.append("  limit: \(budget.endpoint): \(budget.lastHour) requests in the last hour\(closed)")
        }
        return lines
    }
}
