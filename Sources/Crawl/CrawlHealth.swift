import AppStoreModel
import Synchronization
import Workers

/// Watches a whole crawl: ends it when too much fails, and keeps retries from making an outage worse.
final class CrawlHealth: Sendable {
    /// Reasons of rejected records that say nothing against the signature, the chain or the claims.
    ///
    /// Such a record may be Apple's, and one customer's history may be full of them.
    private static let reasonsOfContent: Set<String> = ["unreadable", "conflict", "no_identity", "missing_key"]

    private let breaker = Mutex(CircuitBreaker())
    private let quota = SharedRetryQuota()
    private let time: Timekeeper

    init(time: Timekeeper) {
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

    func committed(_ outcome: PageOutcome) throws {
        try note {
            $0.note(
                pageOf: outcome.records,
                verificationFailures: outcome.rejected.count { !Self.reasonsOfContent.contains($0) },
                rejections: outcome.rejected
            )
        }
    }

    private func note(_ change: (inout CircuitBreaker) -> Void) throws {
        let tripped = breaker.withLock { breaker in
            change(&breaker)
            return breaker.tripped
        }
        if let tripped { throw tripped }
    }
}
