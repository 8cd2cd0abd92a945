import Basics
import Inbox
import Ledger
import Synchronization

/// What one receiver has counted since its start, in Prometheus's text format.
///
/// No label comes from a request. The apps are named in the job files.
final class ReceiverMetrics: Sendable {
    private struct AppCounts {
        var stored = 0
        var known = 0
        var conflicts = 0
        var normalized = 0
    }

    /// A URL to which the notifications of an app are forwarded.
    private struct Destination: Hashable {
        /// ``ReceivedApp/labels``.
        let app: String
        /// Without its query.
        let url: String

        /// The labels in Prometheus's format; ``JobFiles/Forward`` refuses the characters that it escapes.
        var labels: String { "\(app),url=\"\(url)\"" }
    }

    private struct Posts {
        var delivered = 0
        var failed = 0
    }

    private struct Counts {
        /// By ``ReceivedApp/labels``.
        var apps: [String: AppCounts]
        var forwards: [Destination: Posts]
        var refused: [String: Int] = [:]
        var requests = 0
        var answers = Histogram()
    }

    private let counts: Mutex<Counts>

    /// - Parameters:
    ///   - apps: ``ReceivedApp/labels`` of each app.
    ///   - forwards: These labels, and a URL without its query to which the notifications of the app are forwarded.
    init(apps: [String], forwards: [(app: String, url: String)] = []) {
        let posts = forwards.map { (Destination(app: $0.app, url: $0.url), Posts()) }
        counts = Mutex(
            Counts(
                apps: Dictionary(apps.map { ($0, AppCounts()) }) { first, _ in first },
                forwards: Dictionary(posts) { first, _ in first }
            )
        )
    }

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

    func answer(_ receipt: NotificationInbox.Receipt, of app: String, after time: Duration) {
        counts.withLock { counts in
            switch receipt {
            case .new: counts.apps[app]?.stored += 1
            case .known: counts.apps[app]?.known += 1
            case .conflict: counts.apps[app]?.conflicts += 1
            }
            counts.answers.add(time.inSeconds)
        }
    }

    func normalize(_ count: Int, of app: String) { counts.withLock { $0.apps[app]?.normalized += count } }

    func forward(_ outcome: ForwardOutcome, of app: String, to url: String) {
        let destination = Destination(app: app, url: url)
        counts.withLock { counts in
            if outcome == .delivered {
                counts.forwards[destination]?.delivered += 1
            } else {
                counts.forwards[destination]?.failed += 1
            }
        }
    }

    /// The page of `/metrics`.
    ///
    /// - Parameters:
    ///   - oldestPending: By app, the age of the oldest notification that is not normalised, 0 if all are; `nil` if the database
    ///     does not answer.
    ///   - forwards: By app, what is left to forward; `nil` if the database does not answer.
    func text(oldestPending: [String: Duration]?, forwards: [String: [ForwardCounts]]? = nil) -> String {
        let counts = counts.withLock { $0 }
        let apps = counts.apps.sorted { $0.key < $1.key }
        var page = MetricsPage()
        page.add(
            "storeledger_receiver_notifications_total",
            "counter",
            "Notifications answered 200: new ones, known ones, and conflicts (different content under a known UUID).",
            apps.flatMap { app, counts in
                [("new", counts.stored), ("known", counts.known), ("conflict", counts.conflicts)].map {
                    ("{\(app),result=\"\($0)\"}", $1)
                }
            }
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
            apps.map { ("{\($0)}", $1.normalized) }
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
        add(counts.forwards, left: forwards, to: &page)
        if let oldestPending {
            page.add(
                "storeledger_receiver_oldest_pending_seconds",
                "gauge",
                "Age of the oldest notification of the app that is not normalised; 0 if all are.",
                oldestPending.sorted { $0.key < $1.key }.map { ("{\($0)}", Int($1.inSeconds.rounded())) }
            )
        }
        return page.text
    }

    /// Adds the metrics of the URLs of `receiver.forward`, and nothing without such a URL.
    private func add(_ posts: [Destination: Posts], left: [String: [ForwardCounts]]?, to page: inout MetricsPage) {
        let destinations = posts.sorted { $0.key.labels < $1.key.labels }
        guard !destinations.isEmpty else { return }
        page.add(
            "storeledger_receiver_forward_attempts_total",
            "counter",
            "Attempts to forward a notification, by result.",
            destinations.flatMap { destination, posts in
                [("delivered", posts.delivered), ("failed", posts.failed)].map {
                    ("{\(destination.labels),result=\"\($0)\"}", $1)
                }
            }
        )
        guard let left else { return }
        let gauges: [(name: String, help: String, value: (ForwardCounts) -> Int64)] = [
            (
                "storeledger_receiver_forward_undelivered", "Notifications that are not delivered to the URL yet.",
                { $0.undelivered }
            ),
            (
                "storeledger_receiver_forward_oldest_seconds",
                "Age of the oldest undelivered notification; 0 if all are delivered.", { $0.oldestSeconds ?? 0 }
            ),
            (
                "storeledger_receiver_forward_given_up", "Notifications that were given up in the last 30 days.",
                { $0.givenUp }
            ),
        ]
        for gauge in gauges {
            page.add(
                gauge.name,
                "gauge",
                gauge.help,
                destinations.map { destination, _ in
                    let counts = left[destination.app]?.first { $0.url == destination.url }
                    return ("{\(destination.labels)}", Int(counts.map(gauge.value) ?? 0))
                }
            )
        }
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
