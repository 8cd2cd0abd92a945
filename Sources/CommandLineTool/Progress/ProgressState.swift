import AppStoreModel
import Basics
import Crawl
import Pipeline
import RateLimit
import Streams

/// The progress of a run so far, and its text forms.
struct ProgressState: ProgressText {
    private let began: Duration
    private var estimate = TimeEstimate()
    private var failed = 0
    private var pages = 0
    private var requests = 0
    private var rows = 0
    private var rejected = 0
    /// When each endpoint opens again that Apple has closed, or whose budget is spent.
    private var closed: [StreamName: UnixMilliseconds] = [:]
    private var pace = DonePace()

    init(began: Duration) {
        self.began = began
    }

    var total: Int64 { estimate.items }
    private var done: Int64 { estimate.done }

    mutating func note(_ event: RunEvent, at now: Duration, wall: UnixMilliseconds) {
        switch event {
        case .began(_, let progress), .counted(let progress):
            estimate.note(progress)
            pace.begin(done, at: now)
        case .crawl(let event):
            estimate.note(event, at: now, wall: wall)
            note(event, at: now)
        case .rehearsal, .remark, .publishing:
            break
        }
    }

    private mutating func note(_ event: CrawlEvent, at now: Duration) {
        switch event {
        case .committed(let outcome, let requests):
            pages += 1
            self.requests += requests
            rows += outcome.rowsNew + outcome.rowsUpdated + outcome.rowsUnchanged
            rejected += outcome.rejected.count
        case .finished:
            pace.note(done, at: now)
        case .ended(_, .failed):
            failed += 1
            pace.note(done, at: now)
        case .closed(let stream, let opening):
            closed[stream] = opening.moment
        case .stalled(let stream, _, let moment):
            closed[stream] = moment
        case .clockIsBehind(let stream, let moment, _):
            closed[stream] = moment
        case .ended, .retrying, .leaseLost, .idle:
            break
        }
    }

    /// Such as `5 min left`, or `at least 5 min left` while the items of some streams are not known yet.
    private func timeLeft(at now: Duration) -> String? {
        guard let left = estimate.timeLeft(at: now), left.duration > .zero else { return nil }
        return "\(left.isMinimum ? "at least " : "")\(left.duration.inWords) left"
    }

    /// The endpoint that opens last, and when it opens; `nil` if none is closed.
    private func waiting(_ wall: UnixMilliseconds) -> (stream: StreamName, moment: UnixMilliseconds)? {
        closed.filter { $0.value > wall }.max { $0.value < $1.value }.map { ($0.key, $0.value) }
    }

    func plain(at now: Duration, wall: UnixMilliseconds) -> String {
        let left = timeLeft(at: now).map { ", \($0)" } ?? ""
        let wait =
            waiting(wall).map { ", \($0.stream.rawValue) waits for its limit until \($0.moment.clockTime) UTC" } ?? ""
        return "\(done) of \(total) items, \(pages) pages, \(rows) rows, \(rejected) rejected, \(failed) failed, "
            + "\(oneDecimal(pace.perSecond(done, at: now))) items/s\(left)\(wait)"
    }

    func bar(at now: Duration, wall: UnixMilliseconds, columns: Int) -> String {
        var line = ProgressLine()
        line.facts.append((0, ["\(done)/\(total) items", "\(done)/\(total)"]))
        line.facts.append((5, ["\(rows) rows"]))
        line.facts.append((4, ["\(oneDecimal(pace.perSecond(done, at: now)))/s"]))
        if let left = timeLeft(at: now) { line.facts.append((1, [left])) }
        if rejected + failed > 0 { line.facts.append((2, ["\(rejected) rejected · \(failed) failed"])) }
        if let (stream, moment) = waiting(wall) {
            let forms = [
                "\(stream.rawValue) waits for its limit until \(moment.clockTime) UTC",
                "limit until \(moment.clockTime)",
            ]
            line.facts.append((3, forms))
        }
        return line.text(done: done, total: total, columns: columns)
    }

    func json(at now: Duration, app: String? = nil) -> String {
        struct Line: Encodable {
            let event = "progress"
            let app: String?
            let itemsDone, itemsTotal: Int64
            let itemsFailed, pages, requests, rows, recordsRejected: Int
            let elapsedSeconds: Double
            let secondsLeft, secondsLeftAtLeast: Double?
        }
        let left = estimate.timeLeft(at: now)
        let line = Line(
            app: app,
            itemsDone: done,
            itemsTotal: total,
            itemsFailed: failed,
            pages: pages,
            requests: requests,
            rows: rows,
            recordsRejected: rejected,
            elapsedSeconds: (now - began).inSeconds,
            secondsLeft: left?.isMinimum == false ? left?.duration.inSeconds : nil,
            secondsLeftAtLeast: left?.isMinimum == true ? left?.duration.inSeconds : nil
        )
        return (try? JSONOutput.line(line)) ?? ""  // numbers always encode
    }
}
