import Basics
import Ledger
import Synchronization

/// What one receiver has counted since its start, in Prometheus's text format.
///
/// No metric has a label from a request.
final class ReceiverMetrics: Sendable {
    private struct Counts {
        var stored = 0
        var known = 0
        var conflicts = 0
        var refused: [String: Int] = [:]
        var normalized = 0
        var requests = 0
        var answers = Histogram()
    }

    private let counts = Mutex(Counts())

    /// Counts a request as being answered; returns `false`, and counts nothing, if `limit` requests are being answered.
    func beginRequest(atMost limit: Int) -> Bool {
        counts.withLock { counts in
            guard counts.requests < limit else { return false }
            counts.requests += 1
            return true
        }
    }

    func endRequest() { counts.withLock { $0.requests -= 1 } }

    func refuse(_ reason: String) { counts.withLock { $0.refused[reason, default: 0] += 1 } }

    func answer(_ receipt: NotificationInbox.Receipt, after time: Duration) {
        counts.withLock { counts in
            switch receipt {
            case .new: counts.stored += 1
            case .known: counts.known += 1
            case .conflict: counts.conflicts += 1
            }
            counts.answers.add(time.inSeconds)
        }
    }

    func normalize(_ count: Int) { counts.withLock { $0.normalized += count } }

    /// The page of `/metrics`.
    ///
    /// - Parameter oldestPending: The age of the oldest notification that is not normalised; `.some(nil)` if all are, `nil` if
    ///   the database does not answer.
    func text(oldestPending: Duration??) -> String {
        let counts = counts.withLock { $0 }
        var page = MetricsPage()
        page.add(
            "storeledger_receiver_notifications_total",
            "counter",
            "Notifications answered 200: new ones, known ones, and conflicts (different content under a known UUID).",
            [
                ("{result=\"new\"}", counts.stored), ("{result=\"known\"}", counts.known),
                ("{result=\"conflict\"}", counts.conflicts),
            ]
        )
        page.add(
            "storeledger_receiver_refused_total",
            "counter",
            "Requests that were not answered 200, by reason.",
            counts.refused.sorted { $0.key < $1.key }.map { ("{reason=\"\($0.key)\"}", $0.value) }
        )
        page.add(
            "storeledger_receiver_normalised_total",
            "counter",
            "Notifications that this receiver has normalised.",
            [("", counts.normalized)]
        )
        page.add(
            "storeledger_receiver_requests",
            "gauge",
            "Notifications that are being read, verified and stored now.",
            [("", counts.requests)]
        )
        page.add(
            "storeledger_receiver_answer_seconds",
            "Time from a request's headers to its 200 response.",
            counts.answers
        )
        if let oldestPending {
            page.add(
                "storeledger_receiver_oldest_pending_seconds",
                "gauge",
                "Age of the oldest notification of the app that is not normalised; 0 if all are.",
                [("", Int((oldestPending ?? .zero).inSeconds.rounded()))]
            )
        }
        return page.text
    }
}

/// A page in Prometheus's text format.
private struct MetricsPage {
    private(set) var text = ""

    mutating func add(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples { text += "\(name)\(sample.labels) \(sample.value)\n" }
    }

    mutating func add(_ name: String, _ help: String, _ histogram: Histogram) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
        for (bound, count) in histogram.cumulative { text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n" }
        text += "\(name)_sum \(histogram.sum)\n\(name)_count \(histogram.count)\n"
    }
}
