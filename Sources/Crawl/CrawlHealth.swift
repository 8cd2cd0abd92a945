import AppStoreModel
import Basics
import Synchronization

/// Watches a whole crawl: stops it when too much fails, and limits retries so that they do not make an outage worse.
final class CrawlHealth: Sendable {
    /// The reasons for rejecting a record whose signature, chain and claims are valid.
    ///
    /// Such a record can be from Apple, and one customer's history can contain many of them, so they do not stop the
    /// crawl.
    private static let contentReasons: Set<String> = [
        "unreadable", "conflict", "contradiction", "no_identity", "missing_key",
    ]

    private let breaker: Mutex<CircuitBreaker>
    private let quota = SharedRetryQuota()
    private let time: Timekeeper

    /// - Parameters:
    ///   - rules: Says whether too many rejected records end the crawl.
    ///   - time: Only its monotonic clock is read.
    init(rules: CrawlRules, time: Timekeeper) {
        breaker = Mutex(CircuitBreaker(stopsForRejects: rules.stopsForRejects))
        self.time = time
    }

    /// Records a request that returned a page.
    func requestSucceeded() throws {
        quota.succeeded()
        try note { $0.noteRequest(failed: false, at: time.monotonic()) }
    }

    /// Records a request that returned no page, and takes one retry from the quota.
    ///
    /// - Parameter report: Why it returned none.
    /// - Returns: Whether the quota allows a retry.
    /// - Throws: ``StopReason`` if the crawl must end.
    func requestFailed(_ report: FailureReport) throws -> Bool {
        try note { $0.noteRequest(failed: true, at: time.monotonic(), because: report) }
        return quota.payForRetry()
    }

    func itemFailed(_ report: FailureReport) throws {
        try note { $0.noteFailedItem(report) }
    }

    /// Records a committed page.
    func pageCommitted(_ outcome: PageOutcome) throws {
        try note {
            $0.notePage(
                records: outcome.records,
                rejected: outcome.rejected.count,
                newReasons: outcome.newlyRejected,
                verificationFailures: outcome.newlyRejected.count { !Self.contentReasons.contains($0) }
            )
        }
    }

    /// Records that every item has reached its end.
    func crawlEnded() throws {
        try note { $0.noteEnd() }
    }

    /// - Throws: ``StopReason`` if the crawl must end, now or because of an earlier event.
    private func note(_ change: (inout CircuitBreaker) -> Void) throws {
        let stopReason = breaker.withLock { breaker in
            change(&breaker)
            return breaker.stopReason
        }
        if let stopReason { throw stopReason }
    }
}
