package import AppStoreModel

/// A moment as a job file names it, often relative to the run.
package enum DateExpression: Equatable, Sendable {
    /// An ISO 8601 date and time with its zone.
    case absolute(UnixMilliseconds)
    /// `-Nd` or `-Nh`: this long before the run first asks.
    case before(Duration)
    /// `now`: when the run first asks.
    case now
    /// `lastRun`: until when the job's previous run asked.
    case lastRun

    /// The moment meant.
    ///
    /// - Returns: `nil` only for ``lastRun`` without an earlier run.
    package func resolve(now: UnixMilliseconds, lastRun: UnixMilliseconds?) -> UnixMilliseconds? {
        switch self {
        case .absolute(let moment): moment
        case .before(let duration): now - duration
        case .now: now
        case .lastRun: lastRun
        }
    }
}
