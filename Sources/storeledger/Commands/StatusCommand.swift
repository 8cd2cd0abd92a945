import ArgumentParser
import ExportPipeline
import FoundationEssentials
import JobPlan
import Ledger

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "How a job stands: runs, items, failures, rejects, gaps, spent limits.",
        discussion: """
            Read from PostgreSQL alone, so from any machine, whether or not the job is running. Without JOB: every job of
            every app in the ledger that DATABASE_URL in the environment names.

              storeledger status jobs/nightly-sync.yaml
              storeledger status jobs/nightly-sync.yaml --json
              storeledger status
            """
    )

    @Argument(help: ArgumentHelp("The job file; without it every job in the ledger of DATABASE_URL.", valueName: "JOB"))
    var job: String?

    @Option(help: ArgumentHelp("Without JOB: the ledger's schema; appstore by default.", valueName: "NAME"))
    var schema: String?

    @Flag(help: "One JSON document on stdout; without JOB an array of them.")
    var json = false

    func validate() throws {
        guard job == nil else {
            guard schema == nil else { throw ValidationError("--schema goes without JOB: the job file names its own.") }
            return
        }
        if let schema, !PostgresOutput.isSchemaName(schema) {
            throw ValidationError("--schema is \(schema); it must be \(PostgresOutput.schemaNameRule).")
        }
        _ = try databaseURL()
    }

    func run() async throws {
        try await perform {
            if let job {
                var argument = JobArgument()
                argument.path = job
                try await show(try argument.pipeline())
            } else {
                try await showEveryJob()
            }
        }
    }

    private func show(_ pipeline: ExportPipeline) async throws {
        guard let status = try await pipeline.status() else {
            return Console.result(json ? "null" : "\(pipeline.job.name) has never run")
        }
        if json { return Console.result(try JSONOutput.document(status)) }
        StatusText(status: status).lines.forEach(Console.result)
    }

    private func showEveryJob() async throws {
        let statuses = try await ExportPipeline.statusOfEveryJob(
            at: try databaseURL(),
            schema: schema ?? PostgresOutput.usualSchema,
            databaseDeadline: try databaseDeadline()
        )
        if json { return Console.result(try JSONOutput.document(statuses)) }
        if statuses.isEmpty { Console.result("no job has ever run") }
        statuses.flatMap { StatusText(status: $0).lines }.forEach(Console.result)
    }

    private func databaseURL() throws -> DatabaseURL {
        let text = ProcessInfo.processInfo.environment["DATABASE_URL"] ?? ""
        guard !text.isEmpty else {
            throw ValidationError("Name a JOB, or set DATABASE_URL to the ledger's database to see every job in it.")
        }
        return DatabaseURL(text)
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
            if run.recordsWithheld + run.idsWithheld > 0 {
                lines.append(
                    "    withheld: \(run.recordsWithheld) records and \(run.idsWithheld) listed IDs of erased customers"
                )
            }
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
