package import AppStoreModel
package import JobPlan
package import RateLimit

/// An event that the crawl reports for progress and logs.
///
/// The crawl does not depend on these events being handled.
package enum CrawlEvent: Sendable {
    case committed(PageOutcome, requests: Int)
    case finished(WorkItem)
    case ended(WorkItem, ItemOutcome)
    case retrying(WorkItem, RequestFailure, after: Duration)
    /// Apple answered 429.
    ///
    /// No process sends requests to this endpoint before the moment.
    case closed(StreamName, RetryAfter)
    /// The budget is spent, or another process received a 429.
    ///
    /// No process sends requests to this endpoint before the moment.
    case stalled(StreamName, for: Duration, until: UnixMilliseconds)
    case leaseLost(WorkItem)
}
