package import AppStoreModel
package import JobPlan

/// What the crawl tells whoever shows progress.
///
/// Nothing depends on anybody listening.
package enum CrawlEvent: Sendable {
    case committed(PageOutcome, requests: Int)
    case finished(WorkItem)
    case ended(WorkItem, ItemOutcome)
    case retrying(WorkItem, RequestFailure, after: Duration)
    /// Apple answered 429: nobody asks this endpoint before the moment.
    case closed(StreamName, RetryAfter)
    /// The budget is spent, or another process met a 429: nobody asks this endpoint before the moment.
    case stalled(StreamName, for: Duration, until: UnixMilliseconds)
    case leaseLost(WorkItem)
}
