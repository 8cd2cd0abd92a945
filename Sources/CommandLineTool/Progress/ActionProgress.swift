import Actions
import AppStoreModel
import Basics
import RateLimit

/// The progress of `actions run` so far, and its text forms.
struct ActionProgress: ProgressText {
    private let began: Duration
    /// The rows of all batches so far, and the rows of the batches before the current one.
    private(set) var total: Int64 = 0
    private var before: Int64 = 0
    /// The rows of the current batch that need no further request.
    private var doneOfBatch: Int64 = 0
    /// The outcomes of this process.
    private var outcomes: [RowState: Int64] = [:]
    private var pace = DonePace()
    /// When closed endpoints, and those with a spent budget, open again.
    private var closed: [StreamName: UnixMilliseconds] = [:]

    init(began: Duration) {
        self.began = began
    }

    private var done: Int64 { before + doneOfBatch }

    mutating func note(_ event: ActionEvent, at now: Duration, wall: UnixMilliseconds) {
        switch event {
        case .began(let rows, let done):
            before = total
            total += rows
            doneOfBatch = done
            pace.begin(self.done, at: now)
        case .counted(let done):
            doneOfBatch = max(doneOfBatch, done)
        case .ended(_, let state):
            doneOfBatch += 1
            outcomes[state, default: 0] += 1
            pace.note(done, at: now)
        case .closed(let endpoint, let opening):
            closed[endpoint] = wall + opening.wait
        case .stalled(let endpoint, let wait):
            closed[endpoint] = wall + wait
        case .rehearsal, .remark, .retrying:
            break
        }
    }

    /// The time for the remaining rows at the present pace; `nil` when there is none.
    private func timeLeft(at now: Duration) -> Duration? {
        let perSecond = pace.perSecond(done, at: now)
        guard perSecond > 0, total > done else { return nil }
        return .seconds(Double(total - done) / perSecond)
    }

    /// The outcomes of this process, such as `12 succeeded, 1 rejected`.
    private var outcomesInWords: [String] {
        RowState.allCases.compactMap { state in outcomes[state].map { "\($0) \(state.rawValue)" } }
    }

    /// The endpoint that is waited for, and until when; `nil` if none is closed.
    private func waiting(_ wall: UnixMilliseconds) -> (endpoint: StreamName, moment: UnixMilliseconds)? {
        closed.filter { $0.value > wall }.max { $0.value < $1.value }.map { ($0.key, $0.value) }
    }

    func plain(at now: Duration, wall: UnixMilliseconds) -> String {
        var facts = ["\(min(done, total)) of \(total) rows"] + outcomesInWords
        facts.append("\(oneDecimal(pace.perSecond(done, at: now))) rows/s")
        if let left = timeLeft(at: now) { facts.append("\(left.inWords) left") }
        if let (endpoint, moment) = waiting(wall) {
            facts.append("\(endpoint.rawValue) waits for its limit until \(moment.clockTime) UTC")
        }
        return facts.joined(separator: ", ")
    }

    func bar(at now: Duration, wall: UnixMilliseconds, columns: Int) -> String {
        let shown = min(done, total)
        var line = ProgressLine()
        line.facts.append((0, ["\(shown)/\(total) rows", "\(shown)/\(total)"]))
        line.facts.append((4, ["\(oneDecimal(pace.perSecond(done, at: now)))/s"]))
        if let left = timeLeft(at: now) { line.facts.append((1, ["\(left.inWords) left"])) }
        let (rejected, unknown) = (outcomes[.rejected, default: 0], outcomes[.unknown, default: 0])
        if rejected + unknown > 0 { line.facts.append((2, ["\(rejected) rejected · \(unknown) unknown"])) }
        if let (endpoint, moment) = waiting(wall) {
            let until = "until \(moment.clockTime)"
            line.facts.append((3, ["\(endpoint.rawValue) waits for its limit \(until) UTC", "limit \(until)"]))
        }
        return line.text(done: shown, total: total, columns: columns)
    }

    func json(at now: Duration, app: String? = nil) -> String {
        struct Line: Encodable {
            let event = "progress"
            let rowsDone, rowsTotal: Int64
            let succeeded, rejected, notApplied, unknown: Int64
            let elapsedSeconds: Double
            let secondsLeft: Double?
        }
        let line = Line(
            rowsDone: min(done, total),
            rowsTotal: total,
            succeeded: outcomes[.succeeded, default: 0],
            rejected: outcomes[.rejected, default: 0],
            notApplied: outcomes[.notApplied, default: 0],
            unknown: outcomes[.unknown, default: 0],
            elapsedSeconds: (now - began).inSeconds,
            secondsLeft: timeLeft(at: now)?.inSeconds
        )
        return (try? JSONOutput.line(line)) ?? ""  // numbers always encode
    }
}
