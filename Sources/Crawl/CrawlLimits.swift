package import AppStoreModel
import JobPlan
package import RateLimit

/// The rate limiters of a crawl, one for each endpoint and environment.
package struct CrawlLimits: Sendable {
    private let limiters: [StreamName: RateLimiter]
    private let otherLimiters: [StreamName: RateLimiter]

    /// - Parameters:
    ///   - limiters: For the job's own environment.
    ///   - otherLimiters: For the environment in which unknown IDs are tried. Empty if the job does not allow that.
    package init(limiters: [StreamName: RateLimiter], otherLimiters: [StreamName: RateLimiter] = [:]) {
        self.limiters = limiters
        self.otherLimiters = otherLimiters
    }

    /// - Throws: ``StopReason/configuration(_:)`` for an item that the job does not allow. This happens when an earlier
    ///   run moved the item to the other environment and the job file has changed since.
    func limiter(for item: WorkItem) throws(StopReason) -> RateLimiter {
        guard let limiter = (item.otherEnvironment == nil ? limiters : otherLimiters)[item.stream] else {
            let place = item.otherEnvironment.map { " in \($0.rawValue)" } ?? ""
            let sentence =
                "The job has no limit for \(item.stream.rawValue)\(place), which item \(item.key) needs"
            throw .configuration(FailureReport(message: sentence))
        }
        return limiter
    }

    /// How long this process has waited for limits.
    ///
    /// Endpoints wait at the same time, so this is the longest wait of one endpoint, not the sum.
    package var waited: Duration {
        get async {
            var longest = Duration.zero
            for limiter in [limiters.values, otherLimiters.values].joined() {
                longest = max(longest, await limiter.waited)
            }
            return longest
        }
    }
}
