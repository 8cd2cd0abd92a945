package import AppStoreModel
package import Crawl
package import RateLimit

/// An event of `actions run`, for progress and logs.
///
/// The run does not depend on what the receiver does with it.
package enum ActionEvent: Sendable {
    /// The run uses a server other than Apple's.
    case rehearsal(String)
    case remark(String)
    /// A batch is about to be sent: the number of its rows to send, and how many of them need no further request.
    case began(rows: Int64, done: Int64)
    /// The rows were counted again: other processes can have sent some.
    case counted(done: Int64)
    /// A row has an outcome, known or not, or is left to the next run.
    case ended(position: Int64, state: RowState)
    /// A request failed and is sent again.
    case retrying(StreamName, FailureReport)
    /// Apple answered 429; no process sends requests to this endpoint before ``RateLimit/RetryAfter/moment``.
    case closed(StreamName, RetryAfter)
    /// The budget is spent, or another process received a 429: no request is sent to this endpoint for this time.
    case stalled(StreamName, for: Duration)
}
