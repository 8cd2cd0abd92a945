package import AppStoreModel
package import RateLimit
package import Streams

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
    /// PostgreSQL's clock is behind the latest moment at which the ledger granted requests, because it was ahead before.
    ///
    /// No process sends requests to this endpoint before `latest`.
    case clockIsBehind(StreamName, latest: UnixMilliseconds, by: Duration)
    case leaseLost(WorkItem)
    /// For ``ItemFeed/idleBeforeReport``, no item could be taken: other processes have leased the rest, or it is
    /// postponed.
    ///
    /// At `until` the first of them is free, unless its lease is renewed; `nil` if that moment is not known.
    case idle(until: UnixMilliseconds?)
}
