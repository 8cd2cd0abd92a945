import ArgumentParser
import Basics
import JobPlan
import Ledger
import Pipeline
import Planning

/// How many items `run` and `retry` crawl at once.
struct ConcurrencyOption: ParsableArguments {
    @Option(help: ArgumentHelp("Concurrent items, 1 to 256; overrides limits.concurrency.", valueName: "N"))
    var concurrency: Int?

    func validate() throws {
        if let concurrency, !(1...256).contains(concurrency) {
            throw ValidationError("--concurrency is \(concurrency); it must be from 1 to 256.")
        }
    }
}

/// What `run` and `retry` do with their job.
struct JobRun {
    let argument: JobArgument
    let options: Pipeline.Options
    let process: ProcessOptions

    /// Runs the job, shows its progress, and writes the summary to stdout.
    ///
    /// However the process ends, it then writes the metrics and sends the notification, both with its exit code.
    func perform(ifOlderThan limit: ShortDuration? = nil) async throws {
        let (log, form) = process.display
        let attempt = ProcessFacts(jobFile: argument.path)
        do {
            try await CommandLineTool.perform(job: argument.path, log: log) {
                let job = try argument.load(.crawl, warn: log.warn)
                let pipeline = try argument.pipeline(of: job, waiting: { log.report(.databaseWait($0)) })
                attempt.read(pipeline)
                if let limit, let recent = try await recentRun(of: pipeline, within: limit.duration) {
                    attempt.skip()
                    return try show(recent, of: pipeline.job.name, limit: limit, log)
                }
                try await run(pipeline, attempt, log, form, job: argument.path)
            }
        } catch {
            // The only other error is a wrong value in the environment, which counts as a wrong command line.
            await finish(attempt, code: (error as? ExitCode)?.rawValue ?? ExitStatus.usage.rawValue, log)
            throw error
        }
        await finish(attempt, code: ExitStatus.complete.rawValue, log)
    }

    private func run(
        _ pipeline: Pipeline,
        _ attempt: ProcessFacts,
        _ log: RunLog,
        _ form: ProgressForm,
        job: String
    ) async throws {
        let display = ProgressDisplay<ProgressState>(form: form, log: log, time: .system) { log.note($0) }
        let report: SessionResult
        do {
            report = try await display.whileShowing { note in
                try await pipeline.run(options) { event in
                    attempt.note(event)
                    note(event)
                }
            }
        } catch NothingToRetry.neverRan {
            return skip(attempt, because: "\(pipeline.job.name) has never run", log)
        } catch NothingToRetry.noneFailed {
            return skip(
                attempt,
                because: "\(pipeline.job.name): no item has failed, so there is nothing to retry",
                log
            )
        }
        attempt.complete(report)
        log.ended(report)
        if process.json {
            Console.result(try JSONOutput.document(RunSummaryJSON(report)))
        } else {
            RunSummaryText(report: report, job: job).lines.forEach(Console.result)
        }
        let status = report.exitStatus
        if status != .complete { throw ExitCode(status.rawValue) }
    }

    /// The newest complete run of the job, if it began less than `limit` ago and no run is unfinished.
    private func recentRun(of pipeline: Pipeline, within limit: Duration) async throws -> RecentRun? {
        try await pipeline.openLedger()
        guard let app = try await pipeline.knownApp() else { return nil }
        let now = try await pipeline.ledger.now()
        let plan = RunPlan(job: pipeline.job, app: app, now: now, restart: false, version: storeLedgerVersion)
        return try await pipeline.ledger.recentRun(plan, within: limit)
    }

    private func show(_ recent: RecentRun, of job: String, limit: ShortDuration, _ log: RunLog) throws {
        let sentence =
            "\(job): nothing to do; run \(recent.run) is complete (exit code \(recent.exitCode)) and began "
            + "\(recent.age.inWords) ago, less than \(limit.duration.inWords)"
        log.skipped(sentence)
        Console.result(process.json ? try JSONOutput.document(RecentRunJSON(recent, job: job)) : sentence)
    }

    private func skip(_ attempt: ProcessFacts, because sentence: String, _ log: RunLog) {
        attempt.skip()
        log.skipped(sentence)
        Console.result(process.json ? "null" : sentence)
    }

    private func finish(_ attempt: ProcessFacts, code: Int32, _ log: RunLog) async {
        await process.metrics.write(attempt.exit(code: code), of: attempt.pipeline, log: log)
        await attempt.notify(code: code, log: log)
    }
}
