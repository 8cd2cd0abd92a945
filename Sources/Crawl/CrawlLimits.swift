package import AppStoreModel
package import RateLimit
import Streams

/// The rate limiters of a crawl, one for each endpoint and environment.
package struct CrawlLimits: Sendable {
    private let limiters: [StreamName: RateLimiter]
    private let otherLimiters: [StreamName: RateLimiter]

    /// - Parameters:
    ///   - limiters: For the job's own environment.
    ///   - otherLimiters: For the environment in which IDs unknown to production are tried. Empty if the job does not
    ///     allow that.
    package init(limiters: [StreamName: RateLimiter], otherLimiters: [StreamName: RateLimiter] = [:]) {
        self.limiters = limiters
        self.otherLimiters = otherLimiters
    }

    /// The limiter of the item's endpoint and environment.
    ///
    /// - Throws: ``StopReason/configuration(_:)`` if the job has no such limiter. This happens when an earlier run
    ///   moved the item to the other environment and the job file has changed since.
    func limiter(for item: WorkItem) throws(StopReason) -> RateLimiter {
        guard let limiter = (item.otherEnvironment == nil ? limiters : otherLimiters)[item.stream] else {
            let place = item.otherEnvironment.map { " in \($0.rawValue)" } ?? ""
            let message =
                "The job has no limit for \(item.stream.rawValue)\(place), which item \(item.key) needs"
            throw .configuration(FailureReport(message: message))
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
