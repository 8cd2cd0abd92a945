import AppStoreModel
import Basics
import Synchronization

/// The progress of a command so far, and its text forms.
protocol ProgressText: Sendable {
    associatedtype Event: Sendable

    /// - Parameter began: On the monotonic clock.
    init(began: Duration)

    /// Notes an event at a moment of the monotonic clock, which is `wall` on the machine's clock.
    mutating func note(_ event: Event, at now: Duration, wall: UnixMilliseconds)

    /// How much there is to do; nothing is shown while it is 0.
    var total: Int64 { get }

    func plain(at now: Duration, wall: UnixMilliseconds) -> String
    /// One line that fits a terminal of `columns`.
    func bar(at now: Duration, wall: UnixMilliseconds, columns: Int) -> String
    /// - Parameter app: `nil` in a process of one app.
    func json(at now: Duration, app: String?) -> String
}

/// Shows the progress of a run on stderr: a bar on a terminal, or lines or JSON lines on request.
final class ProgressDisplay<Text: ProgressText>: Sendable {
    private let form: ProgressForm
    private let log: RunLog
    private let time: Timekeeper
    private let tick: @Sendable () -> Void
    private let logEvent: @Sendable (Text.Event) -> Void
    private let state: Mutex<Text>

    /// - Parameters:
    ///   - form: ``ProgressForm/onThisTerminal``.
    ///   - log: Gets the lines of ``ProgressForm/plain``, and its delayed reports are shown in time.
    ///   - time: The clocks.
    ///   - tick: Called from time to time, at least once a minute.
    ///   - logEvent: Called for each event.
    init(
        form: ProgressForm,
        log: RunLog,
        time: Timekeeper,
        tick: @escaping @Sendable () -> Void = {},
        logEvent: @escaping @Sendable (Text.Event) -> Void
    ) {
        self.form = form
        self.log = log
        self.time = time
        self.tick = tick
        self.logEvent = logEvent
        state = Mutex(Text(began: time.monotonic()))
    }

    /// The time before the first display, and between two.
    private var intervals: (first: Duration, next: Duration) {
        switch form {
        case .bar, .auto: (.milliseconds(250), .milliseconds(250))
        case .json: (.seconds(1), .seconds(1))
        case .plain: (.seconds(5), .seconds(60))
        // Only delayed reports.
        case .none: (.seconds(10), .seconds(10))
        }
    }

    /// Runs `body`, showing its events until it ends.
    func whileShowing<Result: Sendable>(
        _ body: @escaping @Sendable (_ note: @escaping @Sendable (Text.Event) -> Void) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body { event in self.note(event) } }
            group.addTask {
                var interval = self.intervals.first
                // Ends without an error when it is cancelled, so that the error of `body` is the one that counts.
                while (try? await self.time.sleep(interval)) != nil {
                    self.show()
                    self.log.reportDue()
                    self.tick()
                    interval = self.intervals.next
                }
                return nil
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

    private func note(_ event: Text.Event) {
        let (now, wall) = (time.monotonic(), UnixMilliseconds(rawValue: time.wallClock()))
        state.withLock { $0.note(event, at: now, wall: wall) }
        logEvent(event)
    }

    private func show() {
        let now = time.monotonic()
        let wall = UnixMilliseconds(rawValue: time.wallClock())
        let state = state.withLock { $0 }
        guard state.total > 0 else { return }
        switch form {
        case .bar: Console.raw("\r\u{1B}[K" + state.bar(at: now, wall: wall, columns: Terminal.columns))
        case .plain: log.progress(state.plain(at: now, wall: wall))
        case .json: Console.message(state.json(at: now, app: log.app))
        case .auto, .none: break
        }
    }
}
