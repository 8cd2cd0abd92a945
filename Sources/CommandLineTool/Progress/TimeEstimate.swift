import AppStoreModel
import Basics
import Crawl
import Pipeline
import RateLimit
import Streams

/// Estimates how long a run still takes.
///
/// Streams differ in speed, so each has a separate estimate: its pages left, at its pace of the last minute. The
/// streams of a phase are then simulated together: a stream that is done frees its workers for the others, and none is
/// faster than its hourly limit. Phases that have not begun count as `plan` counts them, one request for each item at the
/// job's share of the limit.
struct TimeEstimate: Sendable {
    /// The pace of a stream is measured over this time.
    static let memory = Duration.seconds(60)
    /// A shorter wait for a limit is part of the pace: with many processes, the budget frees a little every second.
    static let shortestClosing = Duration.seconds(10)
    /// The share of customers with a revocation is measured once this many customers are done.
    ///
    /// Until then, every customer counts as one with a revocation.
    static let fewestCustomers = 20

    /// The time left.
    struct TimeLeft: Equatable, Sendable {
        let duration: Duration
        /// Whether streams whose items are not known yet will take further time.
        let isMinimum: Bool
    }

    private var phases: [[RunProgress.Stream]] = []
    private var concurrency = 1
    private var paces: [StreamName: StreamPace] = [:]

    var items: Int64 { phases.joined().reduce(0) { $0 + $1.items } }
    var done: Int64 { phases.joined().reduce(0) { $0 + doneItems(of: $1) } }

    /// Notes the number of items, at the beginning and after every count.
    mutating func note(_ progress: RunProgress) {
        phases = progress.phases
        concurrency = max(progress.concurrency, 1)
        for stream in phases.joined() { paces[stream.name, default: StreamPace()].counted(done: stream.done) }
    }

    /// Notes an event of the crawl at a moment of the monotonic clock, which is `wall` on the machine's clock.
    mutating func note(_ event: CrawlEvent, at now: Duration, wall: UnixMilliseconds) {
        for stream in phases.joined() {
            paces[stream.name, default: StreamPace()].work(workers(of: stream), until: now)
        }
        switch event {
        case .committed(let outcome, let requests):
            paces[outcome.item.stream, default: StreamPace()].committed(outcome, requests: requests, at: now)
        case .finished(let item):
            paces[item.stream, default: StreamPace()].ended(item)
        case .ended(let item, let end):
            if case .failed = end {
                paces[item.stream, default: StreamPace()].failed(item, at: now)
            } else {
                paces[item.stream, default: StreamPace()].putBack(item)
            }
        case .leaseLost(let item):
            paces[item.stream, default: StreamPace()].putBack(item)
        case .closed(let stream, let opening):
            close(stream, for: opening.moment - wall, at: now)
        case .stalled(let stream, let wait, _):
            close(stream, for: wait, at: now)
        case .clockIsBehind(let stream, _, let wait):
            close(stream, for: wait, at: now)
        case .retrying, .idle:
            break
        }
    }

    private mutating func close(_ stream: StreamName, for wait: Duration, at now: Duration) {
        guard wait >= Self.shortestClosing else { return }
        paces[stream, default: StreamPace()].close(until: now + wait, at: now)
    }

    private func doneItems(of stream: RunProgress.Stream) -> Int64 {
        max(stream.done, paces[stream.name]?.done ?? 0)
    }

    /// The time until every item has reached its end; `nil` when there is nothing left, or nothing is known yet.
    func timeLeft(at now: Duration) -> TimeLeft? {
        var total = 0.0
        var isMinimum = false
        for phase in phases {
            let works = phase.compactMap { work(of: $0, at: now) }
            guard let seconds = secondsTogether(works) else { return nil }
            total += seconds
            if phase.contains(where: { $0.planning == .afterNotifications }) { isMinimum = true }
        }
        guard total > 0 || isMinimum else { return nil }
        return TimeLeft(duration: .seconds(total), isMinimum: isMinimum)
    }

    /// What is left of one stream.
    private struct Work {
        var pages: Double
        let items: Double
        /// Pages a second of one worker; `nil` for a stream that has not begun.
        let pace: Double?
        /// The most pages a second that the hourly limit allows.
        let limit: Double
        /// How long its endpoint is still closed, in seconds.
        let closed: Double
    }

    private func work(of stream: RunProgress.Stream, at now: Duration) -> Work? {
        let pace = paces[stream.name] ?? StreamPace()
        let items =
            stream.planning == .afterRevocations ? revokedCustomers : Double(stream.items - doneItems(of: stream))
        guard items > 0 else { return nil }
        return Work(
            pages: pace.pagesLeft(of: items),
            items: items,
            pace: pace.pagesPerSecond(at: now, by: workers(of: stream)).map { $0 * pace.itemsPerOwnItem },
            limit: stream.requestsPerSecond / pace.requestsPerPage,
            closed: pace.closedFor(at: now).inSeconds
        )
    }

    /// The workers of this process that crawl a stream now; 0 for one that is done.
    private func workers(of stream: RunProgress.Stream) -> Double {
        let items = Double(stream.items - doneItems(of: stream))
        return items > 0 ? Self.workers(for: items, of: concurrency, among: activeStreams(with: stream)) : 0
    }

    /// The number of streams in the phase of `stream` that have work left.
    private func activeStreams(with stream: RunProgress.Stream) -> Int {
        let phase = phases.first { $0.contains { $0.name == stream.name } } ?? []
        return max(phase.count { $0.items > doneItems(of: $0) }, 1)
    }

    /// The estimated number of customers with a revocation; all customers while fewer than ``fewestCustomers`` are done.
    private var revokedCustomers: Double {
        var customers: Int64 = 0
        var share: Double?
        for stream in phases.joined() where stream.isOfCustomers {
            customers = max(customers, stream.items)
            guard let pace = paces[stream.name], pace.endedItems >= Self.fewestCustomers else { continue }
            // Only some streams show revocations.
            share = max(share ?? 0, Double(pace.revokedItems) / Double(pace.endedItems))
        }
        return Double(customers) * (share ?? 1)
    }

    /// The workers that a stream has: an equal share, and no more than it has items.
    private static func workers(for items: Double, of concurrency: Int, among streams: Int) -> Double {
        max(1, min(items, (Double(concurrency) / Double(max(streams, 1))).rounded(.up)))
    }

    /// The seconds until all of `works` are done, if they begin at the same time and share the workers.
    ///
    /// - Returns: `nil` if one of them has the speed 0, so that it would never be done.
    private func secondsTogether(_ works: [Work]) -> Double? {
        var left = works
        var elapsed = 0.0
        while !left.isEmpty {
            let speeds = left.map { work in
                guard work.closed <= elapsed else { return 0.0 }
                guard let pace = work.pace else { return work.limit }
                return min(pace * Self.workers(for: work.items, of: concurrency, among: left.count), work.limit)
            }
            // The next moment at which a stream is done or opens.
            var step = Double.infinity
            for (work, speed) in zip(left, speeds) {
                if speed > 0 { step = min(step, work.pages / speed) }
                if work.closed > elapsed { step = min(step, work.closed - elapsed) }
            }
            guard step.isFinite else { return nil }
            elapsed += step
            for index in left.indices { left[index].pages -= speeds[index] * step }
            left.removeAll { $0.pages <= 1e-6 }
        }
        return elapsed
    }
}

/// The pace of one stream in this process.
private struct StreamPace: Sendable {
    private(set) var done: Int64 = 0
    /// Items that this process has brought to their end.
    private(set) var endedItems = 0
    private(set) var revokedItems = 0
    /// How many items all processes finish for each item that this one finishes, by the last count; 1 if it works alone.
    private(set) var itemsPerOwnItem = 1.0
    private var endedAtCount = 0
    private var lastCount: Int64?
    private var endedPages = 0
    private var pages = 0
    private var requests = 0
    /// Pages of the items in progress, and whether one of them is of a revoked purchase.
    private var inProgress: [String: (pages: Int, isRevoked: Bool)] = [:]
    /// Samples of `pages` and `workTime`, the oldest first; `at` is an ``openTime(at:)``.
    private var samples: [(at: Duration, workTime: Double, pages: Int)] = []
    /// The seconds that all workers together spent on the stream while its endpoint was open.
    private var workTime = 0.0
    private var workedUntil: Duration?
    private var closing: Range<Duration>?
    private var closedBefore = Duration.zero

    mutating func counted(done: Int64) {
        if let lastCount, endedItems > endedAtCount {
            itemsPerOwnItem = max(1, Double(done - lastCount) / Double(endedItems - endedAtCount))
        }
        (lastCount, endedAtCount) = (done, endedItems)
        self.done = max(self.done, done)
    }

    mutating func committed(_ outcome: PageOutcome, requests: Int, at now: Duration) {
        let isRevoked = inProgress[outcome.item.key]?.isRevoked == true || outcome.sawRevocation
        inProgress[outcome.item.key] = (outcome.item.pageCount, isRevoked)
        self.requests += requests
        add(pageAt: now)
    }

    mutating func failed(_ item: WorkItem, at now: Duration) {
        requests += 1
        add(pageAt: now)
        ended(item)
    }

    mutating func ended(_ item: WorkItem) {
        if inProgress.removeValue(forKey: item.key)?.isRevoked == true { revokedItems += 1 }
        endedItems += 1
        endedPages += max(item.pageCount, 1)
        done += 1
    }

    mutating func putBack(_ item: WorkItem) {
        inProgress[item.key] = nil
    }

    private mutating func add(pageAt now: Duration) {
        pages += 1
        let now = openTime(at: now)
        if let last = samples.last, now - last.at < .seconds(1) { return }
        samples.append((now, workTime, pages))
        // One older sample is kept, so that the pace is always measured over all of ``TimeEstimate/memory``.
        while samples.count > 2, now - samples[1].at >= TimeEstimate.memory { samples.removeFirst() }
    }

    /// Adds the time since the last call to ``workTime``; the stream had this many workers since then.
    mutating func work(_ workers: Double, until now: Duration) {
        let open = openTime(at: now)
        workTime += workers * max((open - (workedUntil ?? open)).inSeconds, 0)
        workedUntil = open
    }

    /// Pages a second of one worker while the endpoint was open; `nil` before there are two moments to compare.
    ///
    /// `workers` is their number since the last event.
    func pagesPerSecond(at now: Duration, by workers: Double) -> Double? {
        let open = openTime(at: now)
        guard let first = samples.first, pages > first.pages, open - first.at >= .seconds(1) else { return nil }
        let sinceEvent = workers * max((open - (workedUntil ?? open)).inSeconds, 0)
        let seconds = workTime + sinceEvent - first.workTime
        return seconds > 0 ? Double(pages - first.pages) / seconds : nil
    }

    var requestsPerPage: Double { pages > 0 ? max(1, Double(requests) / Double(pages)) : 1 }

    /// The pages of `items` that are not finished, without those that the items in progress already have.
    func pagesLeft(of items: Double) -> Double {
        let most = Double(inProgress.values.map(\.pages).max() ?? 0)
        let pagesPerItem = endedItems > 0 ? Double(endedPages) / Double(endedItems) : max(1, most + 1)
        let begun = Double(inProgress.values.reduce(0) { $0 + $1.pages })
        return max(items, items * pagesPerItem - begun)
    }

    mutating func close(until end: Duration, at now: Duration) {
        if let closing, closing.upperBound > now {
            self.closing = closing.lowerBound..<max(closing.upperBound, end)
        } else {
            closedBefore = closedTime(at: now)
            closing = now..<max(now, end)
        }
    }

    func closedFor(at now: Duration) -> Duration {
        max((closing?.upperBound ?? now) - now, .zero)
    }

    private func closedTime(at now: Duration) -> Duration {
        guard let closing else { return closedBefore }
        return closedBefore + (min(now, closing.upperBound) - closing.lowerBound)
    }

    /// The time since the start of the clock without the times in which the endpoint was closed.
    private func openTime(at now: Duration) -> Duration { now - closedTime(at: now) }
}
