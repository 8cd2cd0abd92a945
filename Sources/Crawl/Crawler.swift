package import AppStoreModel
package import Basics
import RateLimit
import Streams

/// Crawls many items concurrently, each page by page, until all are finished.
///
///     lease ─► permit ─► fetch ─► verify ─► normalise ─► commit page + cursor ─► next page
///
/// Pages come from a ``PageSource``. Items come from a ``CrawlStore``, which also stores the pages.
package struct Crawler<Source: PageSource, Store: CrawlStore>: Sendable {
    private let source: Source
    private let store: Store
    private let limits: CrawlLimits
    private let rules: CrawlRules
    private let health: CrawlHealth
    private let time: Timekeeper
    private let report: @Sendable (CrawlEvent) -> Void

    package init(
        source: Source,
        store: Store,
        limits: CrawlLimits,
        rules: CrawlRules,
        time: Timekeeper,
        report: @escaping @Sendable (CrawlEvent) -> Void
    ) {
        self.source = source
        self.store = store
        self.limits = limits
        self.rules = rules
        health = CrawlHealth(rules: rules, time: time)
        self.time = time
        self.report = report
    }

    /// Returns when every item of `streams` has reached its end, in this or another process.
    ///
    /// - Parameters:
    ///   - streams: A stream may have no items.
    ///   - concurrency: The number of items crawled at the same time, at least 1.
    /// - Throws: ``StopReason`` when the run must end, `CancellationError`, and errors of source and store.
    package func crawl(_ streams: [StreamName], concurrency: Int) async throws {
        let feed = ItemFeed(store: store, streams: streams, concurrency: concurrency, time: time, report: report)
        try await withBoundedWorkers(width: concurrency, next: { try await feed.next() }) { item in
            defer { feed.finished(item) }
            do {
                try await crawl(item)
            } catch is LeaseLost {
                report(.leaseLost(item))
            } catch let error as ClockDisagreement {
                throw StopReason(error)
            }
        }
    }

    /// Checks the share of rejected records over the whole crawl.
    ///
    /// Call it once, after the last ``crawl(_:concurrency:)``. The share of a crawl with few records is checked only
    /// here, when all of them are stored.
    ///
    /// - Throws: ``StopReason`` when too many records were rejected.
    package func finish() throws {
        try health.crawlEnded()
    }

    /// Crawls one item page by page.
    ///
    /// Each page is durable before the next is requested.
    private func crawl(_ item: WorkItem) async throws {
        var item = item
        while true {
            // Each attempt waits for a separate permit.
            switch try await fetch(item) {
            case .page(let page, let requests):
                let verified = try store.verify(page, of: item)
                let rows = store.normalize(verified)
                let committed = try await store.commit(rows, of: page, for: item, requests: requests)
                report(.committed(committed, requests: requests))
                try health.pageCommitted(committed)
                item = committed.item
                guard page.hasMore else {
                    crashPoint(.lastPageCommitted)
                    report(.finished(item))
                    return
                }
                crashPoint(.nextPageWanted)
                guard item.pageCount < rules.pageLimit(of: item) else {
                    let message = "stopped after \(item.pageCount) pages; Apple says there are more"
                    return try await record(.failed(code: nil, message: message), of: item, requests: 0)
                }
            case .noPage(let outcome, let requests):
                return try await record(outcome, of: item, requests: requests)
            }
        }
    }

    private func record(_ outcome: ItemOutcome, of item: WorkItem, requests: Int) async throws {
        try await store.record(outcome, of: item, requests: requests)
        report(.ended(item, outcome))
    }

    /// The result of all attempts for one page; `requests` counts those that were sent.
    private enum Fetched {
        case page(Page, requests: Int)
        case noPage(ItemOutcome, requests: Int)
    }

    /// Fetches the item's next page: waits for a permit before each attempt, and retries according to the failure.
    private func fetch(_ item: WorkItem) async throws -> Fetched {
        var attempts = Attempts(for: item, rules: rules)
        var lackedNewCursor = false
        while true {
            let permit = try await permit(for: item)
            attempts.countRequest()
            let sent = time.monotonic()
            let failure: RequestFailure
            do {
                let page = try await source.page(
                    of: item,
                    departingBy: permit.departsBy,
                    onNewConnection: attempts.needsNewConnection
                )
                try health.requestSucceeded()
                // If the ledger's clock and Apple's disagree, the page is not used but requested again.
                guard try await limits.limiter(for: item).agrees(with: page.date, sent: sent) else { continue }
                let hasNewCursor = page.cursor != nil && page.cursor != item.cursor
                if !page.hasMore || hasNewCursor { return .page(page, requests: attempts.requests) }
                if lackedNewCursor {
                    let message = "Apple says there are more pages but gives no new cursor to request them"
                    return .noPage(.failed(code: nil, message: message), requests: attempts.requests)
                }
                lackedNewCursor = true
                continue
            } catch RequestFailure.tooLate {
                // The permit is spent although nothing was sent. The next attempt needs a new one.
                attempts.uncountRequest()
                continue
            } catch let error as RequestFailure {
                failure = error
            }
            try Task.checkCancellation()  // a cancelled transfer also looks like a failed one
            let now = UnixMilliseconds(rawValue: time.wallClock())
            switch try attempts.next(after: failure, health: health, now: now, random: time.random()) {
            case .waitForApple(let rawValues, let date):
                let retryAfter = try await limits.limiter(for: item).close(retryAfter: rawValues, date: date)
                report(.closed(item.stream, retryAfter))
            case .checkKey(let reason):
                let isAccepted = await source.acceptsKey()
                try Task.checkCancellation()  // a cancelled check also looks like a refused key
                guard isAccepted else { throw reason }
                attempts.noteAcceptedKey()
            case .retry(let delay):
                report(.retrying(item, failure, after: delay))
                try await time.sleep(delay)
            case .emptyAnswer:
                try health.requestSucceeded()
                return .page(Page(records: [], cursor: nil, hasMore: false), requests: attempts.requests)
            case .end(let outcome):
                return .noPage(outcome, requests: attempts.requests)
            }
        }
    }

    /// Returns when one request for the item may be sent: the budget allows it and the lease has not ended.
    private func permit(for item: WorkItem) async throws -> Permit {
        guard store.holds(item) else { throw LeaseLost() }
        let limiter = try limits.limiter(for: item)
        while true {
            crashPoint(.permitWanted)
            let permit = try await limiter.permit()
            crashPoint(.permitReceived)
            // The lease can expire during the wait for the limit, and the permit while the process is suspended.
            guard store.holds(item) else { throw LeaseLost() }
            if permit.isValid(at: time.monotonic()) { return permit }
        }
    }
}
