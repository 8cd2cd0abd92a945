package import AppStoreModel
package import JobPlan
package import RateLimit

/// An event that the crawl reports for progress and logs.
///
/// The crawl does not depend on what the receiver does with it.
package enum CrawlEvent: Sendable {
    case committed(PageOutcome, requests: Int)
    /// The item's last page was committed.
    case finished(WorkItem)
    /// The worker stopped before the item's last page, with this outcome.
    case ended(WorkItem, ItemOutcome)
    case retrying(WorkItem, RequestFailure, after: Duration)
    /// Apple answered 429.
    ///
    /// No process sends requests to this endpoint before ``RetryAfter/moment``.
    case closed(StreamName, RetryAfter)
    /// The budget is spent, or another process received a 429.
    ///
    /// No process sends requests to this endpoint before `until`.
    case stalled(StreamName, for: Duration, until: UnixMilliseconds)
    case leaseLost(WorkItem)
    /// For ``ItemFeed/idleBeforeReport``, no item could be taken: other processes hold the rest, or it is put off.
    case idle
}
