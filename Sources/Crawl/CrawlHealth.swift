import AppStoreModel
import Synchronization
import Workers

/// Watches a whole crawl: ends it when too much fails, and keeps retries from making an outage worse.
final class CrawlHealth: Sendable {
    /// Reasons of rejected records that say nothing against the signature, the chain or the claims.
    ///
    /// Such a record may be Apple's, and one customer's history may be full of them.
    private static let reasonsOfContent: Set<String> = ["unreadable", "conflict", "no_identity", "missing_key"]

    private let breaker: Mutex<CircuitBreaker>
    private let quota = SharedRetryQuota()
    private let time: Timekeeper

    /// - Parameters:
    ///   - rules: Say whether too many rejected records end the crawl.
    ///   - time: Its monotonic clock alone is read.
    init(rules: CrawlRules, time: Timekeeper) {
        breaker = Mutex(CircuitBreaker(stopsForRejects: rules.stopsForRejects))
        self.time = time
    }

    /// Notes a request that gave a page.
    func answered() throws {
        quota.succeeded()
        try note { $0.note(requestThatEndedInRetry: false, at: time.monotonic()) }
    }

    /// Notes a request that gave no page, and pays for sending it again.
    ///
    /// - Returns: Whether the run can still afford that.
    func affordsRetry() throws -> Bool {
        try note { $0.note(requestThatEndedInRetry: true, at: time.monotonic()) }
        return quota.payForRetry()
    }

    func failed(_ report: FailureReport) throws {
        try note { $0.note(failedItem: report) }
    }

    /// Notes a page that is in the store.
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

    /// Notes that every item has reached its end.
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
