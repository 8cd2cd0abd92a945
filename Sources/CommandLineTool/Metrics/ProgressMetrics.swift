import AppStoreModel
import Basics
import Crawl
import Pipeline
import RateLimit
import Synchronization

/// Keeps the moment of each run's last progress in the metrics file, so that a run that stands still or was killed is noticed.
///
/// The metrics that are written at the end replace it.
final class ProgressMetrics: Sendable {
    private static let interval = Duration.seconds(60)

    private struct State {
        /// One for each app.
        var progress: [Int64]
        var written: (progress: [Int64], at: Duration)?
    }

    private let file: String?
    private let app: String?
    private let labels: [[(String, String)]]
    private let time: Timekeeper
    private let state: Mutex<State>

    /// Writes the first moment, that of the call.
    ///
    /// - Parameters:
    ///   - file: The metrics file; `nil` writes nothing.
    ///   - app: The value of `--app`, with which the file keeps the progress of other apps.
    ///   - labels: ``LastExit/labels`` of the same process, for each app.
    ///   - time: The clocks.
    init(file: String?, app: String? = nil, labels: [[(String, String)]], time: Timekeeper) {
        self.file = file
        self.app = app
        self.labels = labels
        self.time = time
        state = Mutex(State(progress: labels.map { _ in time.wallClock() }))
        writeIfDue()
    }

    /// Notes an event that is progress.
    ///
    /// A wait for Apple's limit is progress until the limit opens.
    ///
    /// - Parameter place: That of the app in the labels.
    func note(_ event: RunEvent, of place: Int) {
        let now = time.wallClock()
        let moment: Int64
        switch event {
        case .crawl(.retrying), .crawl(.leaseLost), .crawl(.idle): return
        case .crawl(.closed(_, let opening)): moment = opening.moment.rawValue
        case .crawl(.stalled(_, _, let opening)): moment = opening.rawValue
        case .crawl(.clockIsBehind(_, let opening, _)): moment = opening.rawValue
        case .rehearsal, .began, .counted, .remark, .publishing, .crawl: moment = now
        }
        state.withLock { $0.progress[place] = max($0.progress[place], now, moment) }
    }

    /// Writes the moment at most once a minute, and only after progress.
    ///
    /// A failure is ignored: the same file is written at the end, which warns.
    func writeIfDue() {
        guard let file else { return }
        let now = time.monotonic()
        let moments: [Int64]? = state.withLock { state in
            if let written = state.written, now - written.at < Self.interval || written.progress == state.progress {
                return nil
            }
            state.written = (state.progress, now)
            return state.progress
        }
        guard let moments else { return }
        let old = MetricsFile.lines(at: file) { !MetricsText.isLine($0, of: [MetricsText.progressMetric]) }
        let samples = zip(labels, moments).map { (labels: $0, value: Double($1 / 1_000)) }
        var metrics = MetricsText(progress: samples)
        if let app {
            let progress = MetricsFile.lines(at: file) { MetricsText.isLine($0, of: [MetricsText.progressMetric]) }
            metrics.keep(progress, exceptOf: app)
        }
        // Metrics that cannot be written must not end the run; the ones at its end report the failure.
        try? MetricsFile.write(old + metrics.text, to: file)
    }
}
