/// What the crawl does after a request that returned no page.
package enum Disposition: Equatable, Sendable {
    /// Apple answered 429.
    ///
    /// No process sends requests of the stream until the moment in `retryAfter`. Then the request is sent again. It
    /// costs no attempt. The values are the raw `Retry-After` and `Date` headers. The moment is on the server's clock,
    /// which `Date` shows.
    case waitThenRepeat(retryAfter: [String], date: String?)
    /// The request is sent again after a delay, if the run's retry quota allows.
    case retry(Retry)
    /// Apple answered 401: the request is sent again after ``KeyPatience/pause(afterRefusal:random:)``.
    ///
    /// It costs no attempt.
    case repeatRefused
    /// Apple is asked whether it accepts the key, with a request that is not about the item.
    ///
    /// If it does, the request is sent again, which costs no attempt. Otherwise the run ends for this reason.
    case checkKey(StopReason)
    /// The request is sent again without a delay, with a new permit.
    ///
    /// It costs no attempt.
    case repeatAtOnce
    /// Apple has nothing for the item, which is complete.
    case emptyAnswer
    /// The item starts again at its first page, with the same query.
    case restartCursor(FailureReport)
    /// The window now starts at the oldest date that Apple still serves.
    ///
    /// The gap is recorded.
    case shortenWindow(FailureReport)
    /// The item is requested from Apple's other environment.
    case tryOtherEnvironment(FailureReport)
    /// The item is postponed and keeps its cursor.
    case deferItem(FailureReport)
    /// The item fails and keeps its cursor.
    ///
    /// The run continues.
    case failItem(FailureReport)
    /// The run ends.
    case stopRun(StopReason)
}

/// How a request is repeated.
package enum Retry: Equatable, Sendable {
    case ordinary
    /// Apple documents the failure as retryable after a short delay.
    case short
    /// There are at most this many repeats, because more would not help.
    case limited(Int)

    /// Attempts per page, including the first.
    package var attempts: Int {
        switch self {
        case .ordinary, .short: RetryBackoff.attemptsPerPage
        case .limited(let repeats): repeats + 1
        }
    }

    package var backoff: RetryBackoff {
        switch self {
        case .ordinary, .limited: .ordinary
        case .short: .short
        }
    }
}

/// What the crawl has already tried for the page or its item.
package struct AttemptHistory: Equatable, Sendable {
    /// Attempts for the page so far, including the one that failed.
    ///
    /// An answer 429 or 401 does not count, nor does a 403 after which Apple accepts the key, nor a request that is sent again
    /// without a delay.
    package var attempts = 1
    /// The 401s in a row for the page, including the latest answer.
    package var refusals = 0
    package var keyPatience = KeyPatience()
    /// Whether Apple answered a request for the page with 403, and accepted the key for another request after that.
    package var keyWasAccepted = false
    /// Whether a reused connection was closed during an earlier request for the page.
    package var keptConnectionWasLost = false
    /// Whether the item may not start again in this run, neither without its cursor nor with a shortened window.
    package var hasUsedUpRestarts = false
    /// Whether the job allows the item to continue in Apple's other environment, and the item is not there yet.
    package var mayTryOtherEnvironment = false

    package init() {}
}
