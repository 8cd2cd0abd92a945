import AppStoreModel
import Basics
import FoundationEssentials
import JobPlan
import Ledger
import Pipeline
import Planning
import Synchronization

/// What one process of `run` or `retry` knows about itself, for what is written after it ends.
final class ProcessFacts: Sendable {
    private struct State {
        var pipeline: Pipeline?
        var run: Int64?
        var report: SessionResult?
        var hasNothingToDo = false
    }

    /// The job file as named on the command line.
    let jobFile: String
    private let startedAt = Date.now
    private let state = Mutex(State())

    init(jobFile: String) {
        self.jobFile = jobFile
    }

    /// The job's pipeline; `nil` until the job file was read.
    var pipeline: Pipeline? { state.withLock(\.pipeline) }

    /// Records that the job file was read.
    func read(_ pipeline: Pipeline) { state.withLock { $0.pipeline = pipeline } }

    /// Records the run that this process has started or joined.
    func note(_ event: RunEvent) {
        guard case .began(let start, _) = event else { return }
        state.withLock { $0.run = start.run }
    }

    /// Records that the run is complete.
    func complete(_ report: SessionResult) { state.withLock { $0.report = report } }

    /// Records that no run was necessary.
    func skip() { state.withLock { $0.hasNothingToDo = true } }

    func exit(code: Int32) -> LastExit { LastExit(code: code, of: pipeline?.job, in: jobFile) }

    /// Sends the notification that the job asks for.
    ///
    /// A failure is logged as a warning and does not change the exit code.
    func notify(code: Int32, log: RunLog) async {
        let state = state.withLock { $0 }
        guard let pipeline = state.pipeline, let webhook = pipeline.job.notify, !state.hasNothingToDo,
            let status = ExitStatus(rawValue: code), let ending = status.ending, webhook.endings.contains(ending)
        else { return }
        let notification = RunNotification(
            job: pipeline.job,
            status: status,
            run: state.run,
            summary: await summary(of: state),
            viewsAreOld: state.report?.viewsFailure != nil,
            startedAt: startedAt,
            endedAt: Date.now
        )
        if let warning = await pipeline.send(notification, to: webhook.url) { log.warn(warning) }
    }

    /// The counts of the run; `nil` if there is no run, or the ledger cannot be read.
    private func summary(of state: State) async -> RunSummary? {
        if let report = state.report { return report.summary }
        guard let run = state.run else { return nil }
        return try? await state.pipeline?.summary(of: run, within: .seconds(5))
    }
}
