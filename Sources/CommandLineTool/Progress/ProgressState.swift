import AppStoreModel
import Basics
import Crawl
import JobPlan
import Ledger
import Pipeline
import RateLimit

/// The progress of a run so far, and its text forms.
struct ProgressState: Sendable {
    private let began: Duration
    private(set) var total: Int64 = 0
    private var doneBefore: Int64 = 0
    private var done: Int64 = 0
    private var failed = 0
    private var pages = 0
    private var requests = 0
    private var rows = 0
    private var rejected = 0
    /// When closed endpoints, and those with a spent budget, open again.
    private var closed: [StreamName: UnixMilliseconds] = [:]

    init(began: Duration) {
        self.began = began
    }

    mutating func note(_ event: RunEvent) {
        switch event {
        case .began(_, let items, let done): (total, doneBefore, self.done) = (items, done, done)
        case .itemsAdded(let total): self.total = total
        case .crawl(let event): note(event)
        case .rehearsal, .remark, .publishing: break
        }
    }

    private mutating func note(_ event: CrawlEvent) {
        switch event {
        case .committed(let outcome, let requests):
            pages += 1
            self.requests += requests
            rows += outcome.rowsNew + outcome.rowsUpdated + outcome.rowsUnchanged
            rejected += outcome.rejected.count
        case .finished:
            done += 1
        case .ended(_, .failed):
            failed += 1
            done += 1
        case .closed(let stream, let opening):
            closed[stream] = opening.moment
        case .stalled(let stream, _, let moment):
            closed[stream] = moment
        case .ended, .retrying, .leaseLost:
            break
        }
    }

    private func rate(at now: Duration) -> Double {
        Double(done - doneBefore) / max((now - began).inSeconds, 0.001)
    }

    private func timeLeft(at now: Duration) -> Duration? {
        let rate = rate(at: now)
        return rate > 0 && done < total ? .seconds(Double(total - done) / rate) : nil
    }

    /// The endpoint that is waited for, and until when; empty if none is closed.
    private func waiting(_ wall: UnixMilliseconds, _ separator: String) -> String {
        guard let (stream, moment) = closed.filter({ $0.value > wall }).max(by: { $0.value < $1.value }) else {
            return ""
        }
        return "\(separator)\(stream.rawValue) waits for its limit until \(moment.clockTime) UTC"
    }

    func plain(at now: Duration, wall: UnixMilliseconds) -> String {
        let left = timeLeft(at: now).map { ", \($0.inWords) left" } ?? ""
        return "\(done) of \(total) items, \(pages) pages, \(rows) rows, \(rejected) rejected, \(failed) failed, "
            + "\(oneDecimal(rate(at: now))) items/s\(left)\(waiting(wall, ", "))"
    }

    func bar(at now: Duration, wall: UnixMilliseconds) -> String {
        let bar = ProgressBar(done: done, total: total).text
        let left = timeLeft(at: now).map { " · \($0.inWords) left" } ?? ""
        let lost = rejected + failed > 0 ? " · \(rejected) rejected · \(failed) failed" : ""
        return
            "\(bar) \(done)/\(total) items · \(rows) rows · \(oneDecimal(rate(at: now)))/s\(left)\(lost)\(waiting(wall, " · "))"
    }

    func json(at now: Duration) -> String {
        struct Line: Encodable {
            let event = "progress"
            let itemsDone, itemsTotal: Int64
            let itemsFailed, pages, requests, rows, recordsRejected: Int
            let elapsedSeconds: Double
            let secondsLeft: Double?
        }
        let line = Line(
            itemsDone: done,
            itemsTotal: total,
            itemsFailed: failed,
            pages: pages,
            requests: requests,
            rows: rows,
            recordsRejected: rejected,
            elapsedSeconds: (now - began).inSeconds,
            secondsLeft: timeLeft(at: now)?.inSeconds
        )
        return (try? JSONOutput.line(line)) ?? ""  // numbers always encode
    }

    private func oneDecimal(_ value: Double) -> String {
        "\((value * 10).rounded() / 10)"
    }
}
