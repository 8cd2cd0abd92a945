/// What a crawl does after a request gave no page.
package enum Disposition: Equatable, Sendable {
    /// Apple answered 429: the stream closes for everybody until the moment of these raw `Retry-After` headers,
    /// named by the clock of the raw `Date` header, then the request is sent again. Waiting is not failing: it costs no attempt.
    case waitThenRepeat(retryAfter: [String], date: String?)
    /// The request is sent again after a while, if the run's quota allows.
    case retry(Retry)
    /// The request is sent again with a new bearer token; it costs no attempt.
    case renewToken
    /// The request is sent again on a new connection, within the limit; it costs no attempt.
    case repeatAtOnce
    /// The item begins again at its first page, with the same query.
    case restartCursor(FailureReport)
    /// The window begins later, where Apple's reach begins now; the gap is recorded.
    case clampWindow(FailureReport)
    /// The item is asked for in Apple's other environment.
    case tryOtherEnvironment(FailureReport)
    /// Enough attempts for now: the item keeps its cursor, and a later run takes it up.
    case deferItem(FailureReport)
    /// The item ends as failed and keeps its cursor; the run goes on.
    case failItem(FailureReport)
    /// The run ends.
    case stopRun(StopReason)
}

/// How a request is repeated.
package enum Retry: Equatable, Sendable {
    case ordinary
    /// Apple calls the failure retryable after a short delay.
    case short
    /// At most so many times: more would not help.
    case limited(Int)

    /// Attempts at one page, the first included.
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

/// What a crawl has already tried for the page, or for its item, that gave no page now.
package struct AttemptHistory: Equatable, Sendable {
    /// Attempts at the page so far, the failed one included; 429 and 401 do not count.
    package var attempts = 1
    /// Whether the page was asked for with a new bearer token since its last answer other than 401.
    package var tokenWasRenewed = false
    /// Whether a kept connection ended under a request for the page before.
    package var keptConnectionWasLost = false
    /// Whether the item's cursor was restarted before.
    package var cursorWasRestarted = false
    /// Whether the item's window was clamped before.
    package var windowWasClamped = false
    /// Whether the job lets an item go on in Apple's other environment, and it has not been there yet.
    package var mayTryOtherEnvironment = false

    package init() {}
}
