package import AppStoreModel

/// A moment in a job file, absolute or relative to the run.
package enum DateExpression: Equatable, Sendable {
    /// An ISO 8601 date and time with a time zone.
    case absolute(UnixMilliseconds)
    /// `-Nd` or `-Nh`: this long before the run began.
    case before(Duration)
    /// `now`: when the run began.
    case now
    /// `lastRun`: the end of the time that the job's previous run requested.
    case lastRun

    /// Resolves the expression to a moment.
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

extension DateExpression {
    /// Equal for equal meanings: `-1d` and `-24h` give the same text.
    package var fingerprint: String {
        switch self {
        case .absolute(let moment): "\(moment.rawValue)"
        case .before(let duration): "-\(duration.components.seconds)s"
        case .now: "now"
        case .lastRun: "lastRun"
        }
    }

    /// Whether it means the same moment in every run.
    package var isAbsolute: Bool {
        if case .absolute = self { return true }
        return false
    }
}
