import ArgumentParser
import Ledger
import Pipeline
import Status

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List the jobs of a ledger, or forget one.",
        discussion: """
              storeledger jobs
              storeledger jobs remove backfill-march
            """,
        subcommands: [ListJobsCommand.self, RemoveJobCommand.self],
        defaultSubcommand: ListJobsCommand.self
    )
}

struct ListJobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List every job: its last run or batch, its last complete one, and its state.",
        discussion: """
              storeledger jobs
              storeledger jobs list --json
            """
    )

    @OptionGroup var ledger: LedgerOptions

    @Flag(help: "Write one JSON document to stdout: an array of jobs.")
    var json = false

    func run() async throws {
        try await perform {
            let ledger = try ledger.ledger()
            try await ledger.open()
            let jobs = try await ledger.knownJobs()
            if json { return Console.result(try JSONOutput.document(jobs)) }
            if jobs.isEmpty { Console.result("no job has ever run") }
            for job in jobs {
                Console.result("\(job.job): \(job.app) (\(job.environment))\(job.action.map { ", \($0)" } ?? "")")
                Console.result("  \(Self.last(of: job))")
                Console.result("  last complete: \(job.lastCompleteAt ?? "never")")
            }
        }
    }

    private static func last(of job: KnownJob) -> String {
        guard let run = job.lastRun, let started = job.lastStartedAt else {
            return "last sent: \(job.lastStartedAt ?? "never"), \(job.state.rawValue)"
        }
        let code = job.exitCode.map { ", exit \($0)" } ?? ""
        return "last run: \(run), started \(started), \(job.state.rawValue)\(code)"
    }
}

struct RemoveJobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget a job: its crawl state and its alerts, never its records.",
        discussion: """
            The job's items, cursors and gaps are deleted, and its rejected records are not
            counted any more. Records stay. A later run of the job starts from the
            beginning. A job that is running is not removed (75).

            Of a job with an action, plans that were not approved are deleted, and rows
            that were never sent are cancelled. Everything that was sent is kept.

              storeledger jobs remove backfill-march
              storeledger jobs remove nightly --app com.example.game --environment Sandbox
            """
    )

    @Argument(help: ArgumentHelp("The job's name.", valueName: "NAME"))
    var name: String

    @OptionGroup var ledger: LedgerOptions

    @Option(help: ArgumentHelp("The app of the job, if several apps have a job of this name.", valueName: "BUNDLE_ID"))
    var app: String?

    @Option(help: ArgumentHelp("Production or Sandbox, if the app has the job in both.", valueName: "NAME"))
    var environment: String?

    func run() async throws {
        try await perform {
            let ledger = try ledger.ledger()
            try await ledger.openToWrite()
            let (removed, jobs) = try await find(in: ledger)
            let hasAction = jobs.contains { $0.action != nil }
            // The crawl first: the role for crawls may not forget an action, and its refusal ends the command.
            if jobs.contains(where: { $0.action == nil }) { try check(await ledger.forget(name, of: removed.id)) }
            if hasAction { try check(await ledger.forgetActions(name, of: removed.id)) }
            let kept = hasAction ? "what it sent is kept" : "its records are kept"
            Console.result("\(name): removed from \(removed.bundleId) (\(removed.environment)); \(kept)")
            Console.message("storeledger: remove its metrics file and its timer too, if it has any")
        }
    }

    /// The app of the job, and its jobs of this name: a crawl, an action or both.
    ///
    /// - Throws: ``JobNotRemoved``.
    private func find(in ledger: Ledger) async throws -> (app: KnownApp, jobs: [KnownJob]) {
        let jobs = try await ledger.knownJobs().filter { $0.job == name }
        let apps = try await ledger.knownApps().filter { known in
            app ?? known.bundleId == known.bundleId && environment ?? known.environment == known.environment
                && jobs.contains { $0.app == known.bundleId && $0.environment == known.environment }
        }
        guard let app = apps.first else { throw JobNotRemoved.unknown(job: name) }
        guard apps.count == 1 else {
            throw JobNotRemoved.ambiguous(job: name, apps: apps.map { "\($0.bundleId) (\($0.environment))" })
        }
        return (app, jobs.filter { $0.app == app.bundleId && $0.environment == app.environment })
    }

    private func check(_ removal: JobRemoval) throws {
        switch removal {
        case .removed: break
        case .running: throw JobNotRemoved.running(job: name)
        case .unknown: throw JobNotRemoved.unknown(job: name)
        }
    }
}
