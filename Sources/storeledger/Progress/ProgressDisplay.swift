import ExportPipeline
import Synchronization
import Workers

/// Shows on stderr how a run gets on: a bar on a terminal, plain lines elsewhere, JSON lines on request.
final class ProgressDisplay: Sendable {
    private let form: ProgressForm
    private let time: Timekeeper
    private let state: Mutex<ProgressState>

    init(form: ProgressForm, time: Timekeeper) {
        self.form = form == .auto ? (Console.isTerminal ? .bar : .plain) : form
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
        guard form != .none else { return }
        let line = state.withLock { $0.note(event, isJSON: form == .json) }
        guard let line else { return }
        Console.raw((form == .bar ? "\r\u{1B}[K" : "") + line + "\n")
    }

    private func show() {
        let now = time.monotonic()
        let state = state.withLock { $0 }
        guard state.total > 0 else { return }
        switch form {
        case .bar: Console.raw("\r\u{1B}[K" + state.bar(at: now))
        case .plain: Console.message(state.plain(at: now))
        case .json: Console.message(state.json(at: now))
        case .auto, .none: break
        }
    }
}
