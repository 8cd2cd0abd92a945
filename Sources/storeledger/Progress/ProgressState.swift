import AppStoreModel
import Crawl
import ExportPipeline
import JobPlan
import Ledger

/// What has been seen of a run so far, and how to say it.
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

    init(began: Duration) {
        self.began = began
    }

    /// Takes an event in; returns a line for those worth one at once.
    mutating func note(_ event: RunEvent, isJSON: Bool) -> String? {
        switch event {
        case .began(let start, let items, let done):
            (total, doneBefore, self.done) = (items, done, done)
            let how = start.joined ? "going on with run \(start.run)" : "beginning run \(start.run)"
            let listed = start.joined ? "" : ", \(start.listedIDs) IDs (\(start.duplicateIDs) duplicates dropped)"
            return say("\(how): \(items) items\(listed), \(done) done", isJSON)
        case .itemsAdded(let total):
            self.total = total
        case .remark(let sentence):
            return say(sentence, isJSON)
        case .publishing(let directory):
            return say("writing CSV files into \(directory)", isJSON)
        case .crawl(let event):
            return note(event, isJSON)
        }
        return nil
    }

    private mutating func note(_ event: CrawlEvent, _ isJSON: Bool) -> String? {
        switch event {
        case .committed(let outcome, let requests):
            pages += 1
            self.requests += requests
            rows += outcome.rowsNew + outcome.rowsUpdated + outcome.rowsUnchanged
            rejected += outcome.rejected.count
        case .finished:
            done += 1
        case .ended(let item, let end):
            switch end {
            case .failed(let code, let message):
                failed += 1
                done += 1
                let code = code.map { " (\($0))" } ?? ""
                return say("\(item.stream.rawValue) \(item.key) failed: \(message)\(code)", isJSON)
            case .restarted(_, let message):
                return say("\(item.stream.rawValue) \(item.key) begins again: \(message)", isJSON)
            case .clamped, .putOff, .moved:
                break
            }
        case .closed(let stream, let opening):
            let until = "waiting until \(opening.moment.clockTime) UTC"
            let oddity = opening.oddity.map { " (Retry-After was odd: \($0.rawValue))" } ?? ""
            return say("Apple's limit of \(stream.rawValue) is reached; \(until)\(oddity)", isJSON)
        case .retrying, .leaseLost:
            break
        }
        return nil
    }

    private func say(_ sentence: String, _ isJSON: Bool) -> String {
        guard isJSON else { return sentence }
        return (try? JSONOutput.line(["event": "message", "message": sentence])) ?? sentence  // strings always encode
    }

    private func rate(at now: Duration) -> Double {
        Double(done - doneBefore) / max((now - began).inSeconds, 0.001)
    }

    private func timeLeft(at now: Duration) -> Duration? {
        let rate = rate(at: now)
        return rate > 0 && done < total ? .seconds(Double(total - done) / rate) : nil
    }

    func plain(at now: Duration) -> String {
        let left = timeLeft(at: now).map { ", \($0.inWords) left" } ?? ""
        return "\(done) of \(total) items, \(pages) pages, \(rows) rows, \(rejected) rejected, \(failed) failed, "
            + "\(oneDecimal(rate(at: now))) items/s\(left)"
    }

    func bar(at now: Duration) -> String {
        let bar = ProgressBar(done: done, total: total).text
        let left = timeLeft(at: now).map { " · \($0.inWords) left" } ?? ""
        let lost = rejected + failed > 0 ? " · \(rejected) rejected · \(failed) failed" : ""
        return "\(bar) \(done)/\(total) items · \(rows) rows · \(oneDecimal(rate(at: now)))/s\(left)\(lost)"
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

extension UnixMilliseconds {
    /// `HH:MM:SS` in UTC.
    fileprivate var clockTime: String {
        let seconds = rawValue / 1_000 % 86_400
        return [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { ($0 < 10 ? "0" : "") + String($0) }.joined(
            separator: ":"
        )
    }
}
