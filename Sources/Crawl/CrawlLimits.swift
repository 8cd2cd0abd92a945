package import AppStoreModel
import JobPlan

/// The limiter of each endpoint and environment a crawl may ask.
package struct CrawlLimits: Sendable {
    private let limiters: [Stream: RateLimiter]
    private let otherLimiters: [Stream: RateLimiter]

    /// - Parameters:
    ///   - limiters: Of the job's own environment.
    ///   - otherLimiters: Of the one that unknown IDs are tried in; empty where the job does not allow it.
    package init(limiters: [Stream: RateLimiter], otherLimiters: [Stream: RateLimiter] = [:]) {
        self.limiters = limiters
        self.otherLimiters = otherLimiters
    }

    func limiter(for item: WorkItem) throws -> RateLimiter {
        guard let limiter = (item.otherEnvironment == nil ? limiters : otherLimiters)[item.stream] else {
            preconditionFailure("no limiter for \(item.stream.rawValue)")
        }
        return limiter
    }

    /// How long this process has waited for limits, all endpoints together.
    package var waited: Duration {
        get async {
            var total = Duration.zero
            for limiter in [limiters.values, otherLimiters.values].joined() { total += await limiter.waited }
            return total
        }
    }
}
