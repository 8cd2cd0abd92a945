import Actions
import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import Pipeline
import Publish
import Synchronization

struct RunActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send what is approved, and find out unknown outcomes.",
        discussion: """
            Run it again to continue. A row whose answer was lost is sent again with the
            same ID, never with another one. The same job can run on several machines at
            once. Exit code 2: rows were rejected or not sent in time, or their outcome is
            unknown.

            With --follow it answers new refund requests by the job's policy, which must be
            approved, until the approval is used up, expires or is withdrawn, or the policy
            changes (78). SIGTERM ends it with 0.

              storeledger actions run jobs/extend-after-outage.yaml
              storeledger actions run jobs/extend-after-outage.yaml --max-duration 2h
              storeledger actions run jobs/extend-after-outage.yaml --progress plain
              storeledger actions run jobs/extend-after-outage.yaml --metrics-file FILE
              storeledger actions run jobs/answer-consumption-requests.yaml --follow
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Answer refund requests by the approved policy as they come, until its approval ends.")
    var follow = false

    @OptionGroup var process: ProcessOptions

    /// What the metrics need after the end of the command.
    private struct Attempt {
        var pipeline: ActionPipeline?
        var batches: [BatchStatus]?
    }

    func run() async throws {
        let (log, form) = process.display
        let attempt = Mutex(Attempt())
        do {
            try await perform(job: job.path, log: log, endsBySignal: follow) {
                let file = try job.load(.action, warn: log.warn)
                let address = try LedgerAddress(of: file, waiting: { log.report(Trouble($0)) })
                let pipeline = ActionPipeline(job: file, at: address)
                attempt.withLock { $0.pipeline = pipeline }
                let report = try await send(pipeline, log, form)
                attempt.withLock { $0.batches = report.batches }
                try show(report)
            }
        } catch {
            // A wrong value in the environment is the only other error, and part of the command line.
            let code = (error as? ExitCode)?.rawValue ?? ExitStatus.usage.rawValue
            await writeMetrics(attempt.withLock { $0 }, code: code, log)
            throw error
        }
        await writeMetrics(attempt.withLock { $0 }, code: ExitStatus.complete.rawValue, log)
    }

    private func send(_ pipeline: ActionPipeline, _ log: RunLog, _ form: ProgressForm) async throws -> ActionRunReport {
        let display = ProgressDisplay<ActionProgress>(form: form, log: log, time: .system) { log.note($0) }
        let limit = process.maxDuration?.duration
        return try await display.whileShowing { note in
            let reload = { @Sendable in try job.load(.action, warn: { _ in }) }
            guard follow else {
                return try await pipeline.run(maximumDuration: limit, reload: reload, report: note)
            }
            return try await pipeline.follow(maximumDuration: limit, reload: reload, report: note)
        }
    }

    private func show(_ report: ActionRunReport) throws {
        let text = BatchStatusText(report.batches, job: report.job, path: job.path)
        if process.json {
            Console.result(try text.json())
        } else {
            text.lines.forEach(Console.result)
            for file in report.files { Console.result("  \(file.file) (\(counted(file.rows, "row")))") }
        }
        let status = report.exitStatus
        if status != .complete { throw ExitCode(status.rawValue) }
    }

    private func writeMetrics(_ attempt: Attempt, code: Int32, _ log: RunLog) async {
        let exit = LastExit(code: code, of: attempt.pipeline?.job, in: job.path)
        await process.metrics.write(attempt.batches, exit, of: attempt.pipeline, log: log)
    }
}
