package import AppStoreModel
import JobPlan

/// The limiter of each endpoint and environment a crawl may ask.
package struct CrawlLimits: Sendable {
    private let limiters: [StreamName: RateLimiter]
    private let otherLimiters: [StreamName: RateLimiter]

    /// - Parameters:
    ///   - limiters: Of the job's own environment.
    ///   - otherLimiters: Of the one that unknown IDs are tried in; empty where the job does not allow it.
    package init(limiters: [StreamName: RateLimiter], otherLimiters: [StreamName: RateLimiter] = [:]) {
        self.limiters = limiters
        self.otherLimiters = otherLimiters
    }

    /// - Throws: ``StopReason/configuration(_:)`` for an item that the job does not allow: an earlier run took it to the
    ///   other environment, and the job file has changed since.
    func limiter(for item: WorkItem) throws(StopReason) -> RateLimiter {
        guard let limiter = (item.otherEnvironment == nil ? limiters : otherLimiters)[item.stream] else {
            let place = item.otherEnvironment.map { " in \($0.rawValue)" } ?? ""
            let sentence =
                "The job has no limit for \(item.stream.rawValue)\(place), where \(item.key) is to be asked for"
            throw .configuration(FailureReport(message: sentence))
        }
        return limiter
    }

    /// How long this process has waited for limits: for that endpoint which kept it waiting longest, since all wait at once.
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
