import ArgumentParser
import Basics
import JobPlan
import Ledger
import Pipeline
import Planning

/// The common options of `run` and `retry`.
struct RunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Concurrent items, 1 to 256; overrides limits.concurrency.", valueName: "N"))
    var concurrency: Int?

    @Option(
        help: ArgumentHelp(
            "Stop cleanly after this time, such as 90s, 30m or 2h; exit code 75 if work is left.",
            valueName: "TIME"
        )
    )
    var maxDuration: ShortDuration?

    @Option(
        help: ArgumentHelp(
            "auto, bar, plain, json (lines on stderr) or none; auto is a bar on a terminal, otherwise none.",
            valueName: "FORM"
        )
    )
    var progress: ProgressForm = .auto

    @OptionGroup var log: LogOptions

    @OptionGroup var metrics: MetricsOptions

    func validate() throws {
        if let concurrency, !(1...256).contains(concurrency) {
            throw ValidationError("--concurrency is \(concurrency); it must be from 1 to 256.")
        }
    }

    /// Runs the job, shows its progress, and writes the summary to stdout.
    func perform(_ argument: JobArgument, restart: Bool = false, retryFailed: Bool = false) async throws {
        let log = RunLog(options: log, progress: progress)
        try await CommandLineTool.perform(job: argument.path, log: log) {
            let pipeline = try argument.pipeline { log.warn($0) }
            let options = Pipeline.Options(
                restart: restart,
                retryFailed: retryFailed,
                concurrency: concurrency,
                maximumDuration: maxDuration?.duration
            )
            let display = ProgressDisplay(form: self.log.logFormat == .json ? .none : progress, log: log, time: .system)
            let report: RunReport
            do {
                report = try await display.whileShowing { note in
                    try await pipeline.run(options, report: note)
                }
            } catch NothingToRetry.neverRan {
                return Console.result("\(pipeline.job.name) has never run")
            } catch NothingToRetry.noneFailed {
                return Console.result("\(pipeline.job.name): no item has failed, so there is nothing to retry")
            } catch {
                await metrics.write(of: pipeline, afterFailure: true, log: log)
                throw error
            }
            log.ended(report)
            await metrics.write(of: pipeline, afterFailure: false, log: log)
            RunSummaryText(report: report, job: argument.path).lines.forEach(Console.result)
            let status = report.exitStatus
            if status != .complete { throw ExitCode(status.rawValue) }
        }
    }
}
