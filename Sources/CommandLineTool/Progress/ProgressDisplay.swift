import AppStoreModel
import Basics
import Pipeline
import Synchronization

/// Shows the progress of a run on stderr: a bar on a terminal, or lines or JSON lines on request.
final class ProgressDisplay: Sendable {
    private let form: ProgressForm
    private let log: RunLog
    private let time: Timekeeper
    private let state: Mutex<ProgressState>

    init(form: ProgressForm, log: RunLog, time: Timekeeper) {
        self.form = form == .auto ? (Console.isTerminal ? .bar : .none) : form
        self.log = log
        self.time = time
        state = Mutex(ProgressState(began: time.monotonic()))
    }

    private var interval: Duration {
        switch form {
        case .bar, .auto: .milliseconds(250)
        case .json: .seconds(1)
        case .plain, .none: .seconds(10)
        }
    }

    /// Runs `body`, showing its events until it ends.
    func whileShowing<Result: Sendable>(
        _ body: @escaping @Sendable (_ note: @escaping @Sendable (RunEvent) -> Void) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body { event in self.note(event) } }
            group.addTask {
                while true {
                    try await self.time.sleep(self.interval)
                    self.show()
                }
            }
            defer {
                group.cancelAll()
                if form == .bar { Console.raw("\r\u{1B}[K") }
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func note(_ event: RunEvent) {
        state.withLock { $0.note(event) }
        log.note(event)
    }

    private func show() {
        let now = time.monotonic()
        let wall = UnixMilliseconds(rawValue: time.wallClock())
        let state = state.withLock { $0 }
        guard state.total > 0 else { return }
        switch form {
        case .bar: Console.raw("\r\u{1B}[K" + state.bar(at: now, wall: wall))
        case .plain: Console.message(state.plain(at: now, wall: wall))
        case .json: Console.message(state.json(at: now))
        case .auto, .none: break
        }
    }
}
