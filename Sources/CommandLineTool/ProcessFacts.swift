import AppStoreModel
import Basics
import FoundationEssentials
import JobFiles
import Ledger
import Pipeline
import Planning
import Synchronization

/// What one process of `run` or `retry` knows about an app of its jobs, for what is written after it ends.
final class ProcessFacts: Sendable {
    private struct State {
        var pipeline: Pipeline?
        var run: Int64?
        var report: SessionResult?
        var hasNothingToDo = false
        var status: ExitStatus?
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

    /// How the work on the app ended; `nil` if it ended with the process.
    var status: ExitStatus? { state.withLock(\.status) }

    /// Records how the work on the app ended, before the process ends.
    func end(with status: ExitStatus) { state.withLock { $0.status = status } }

    func exit(code: Int32) -> LastExit { LastExit(code: status?.rawValue ?? code, of: pipeline?.job, in: jobFile) }

    /// What a webhook gets about the app.
    ///
    /// - Returns: `nil` if there was nothing to do, or the job file was not read.
    func notification(code: Int32) async -> RunNotification? {
        let state = state.withLock { $0 }
        guard let pipeline = state.pipeline, !state.hasNothingToDo,
            let status = state.status ?? ExitStatus(rawValue: code)
        else { return nil }
        return RunNotification(
            job: pipeline.job,
            status: status,
            run: state.run,
            summary: await summary(of: state),
            viewsAreOld: state.report?.viewsFailure != nil,
            startedAt: startedAt,
            endedAt: Date.now
        )
    }

    /// The counts of the run; `nil` if there is no run, or the ledger cannot be read.
    private func summary(of state: State) async -> RunSummary? {
        if let report = state.report { return report.summary }
        guard let run = state.run else { return nil }
        return try? await state.pipeline?.summary(of: run, within: .seconds(5))
    }
}
