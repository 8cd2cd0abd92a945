import AppStoreModel
import Basics
import Synchronization

/// Watches a whole crawl: stops it when too much fails, and limits retries so that they do not make an outage worse.
final class CrawlHealth: Sendable {
    /// Reasons of rejected records whose signature, chain and claims are valid.
    ///
    /// These records can be from Apple, and one customer's history can contain many of them, so they do not stop the
    /// crawl.
    private static let reasonsOfContent: Set<String> = ["unreadable", "conflict", "no_identity", "missing_key"]

    private let breaker: Mutex<CircuitBreaker>
    private let quota = SharedRetryQuota()
    private let time: Timekeeper

    /// - Parameters:
    ///   - rules: Whether too many rejected records end the crawl.
    ///   - time: Only its monotonic clock is read.
    init(rules: CrawlRules, time: Timekeeper) {
        breaker = Mutex(CircuitBreaker(stopsForRejects: rules.stopsForRejects))
        self.time = time
    }

    /// Records a request that returned a page.
    func answered() throws {
        quota.succeeded()
        try note { $0.note(requestThatEndedInRetry: false, at: time.monotonic()) }
    }

    /// Records a request that returned no page, and takes one retry from the quota.
    ///
    /// - Returns: Whether the quota allows the retry.
    func affordsRetry() throws -> Bool {
        try note { $0.note(requestThatEndedInRetry: true, at: time.monotonic()) }
        return quota.payForRetry()
    }

    func failed(_ report: FailureReport) throws {
        try note { $0.note(failedItem: report) }
    }

    /// Records a committed page.
    func committed(_ outcome: PageOutcome) throws {
        try note {
            $0.note(
                pageOf: outcome.records,
                rejected: outcome.rejected.count,
                newReasons: outcome.newlyRejected,
                verificationFailures: outcome.newlyRejected.count { !Self.reasonsOfContent.contains($0) }
            )
        }
    }

    /// Records that every item has reached its end.
    func ended() throws {
        try note { $0.noteEnd() }
    }

    private func note(_ change: (inout CircuitBreaker) -> Void) throws {
        let tripped = breaker.withLock { breaker in
            change(&breaker)
            return breaker.tripped
        }
        if let tripped { throw tripped }
    }
}
