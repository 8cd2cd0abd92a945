/// How many notifications may be posted to one URL now, and when a failed one is posted again.
///
/// A rule without clock: callers pass the time since an arbitrary start.
struct ForwardPace: Sendable {
    /// The most requests in flight.
    static let width = 8
    /// The longest delay between two attempts of a notification.
    static let longestDelay = Duration.seconds(3_600)
    /// The longest pause of a URL that does not work.
    static let longestPause = Duration.seconds(60)

    private var inFlight = 0
    /// How often in a row the server did not work.
    private var failures = 0
    private var pausedUntil = Duration.zero

    /// The delay before the next attempt of a notification: 1 s after the first, and twice as long after each further one.
    static func delay(after attempt: Int32) -> Duration {
        doubled(.seconds(1), Int(attempt) - 1, atMost: longestDelay)
    }

    private static func doubled(_ first: Duration, _ times: Int, atMost longest: Duration) -> Duration {
        times < 16 ? min(first * (1 << max(0, times)), longest) : longest
    }

    /// Takes all free places; each is given back with ``release(_:)`` or ``end(_:at:)``.
    ///
    /// While the URL does not work, there is one place after each pause, so that a dead server costs little.
    ///
    /// - Returns: The number of places.
    mutating func reserve(at now: Duration) -> Int {
        let isBroken = failures >= Self.width
        let places = isBroken ? (now >= pausedUntil ? 1 : 0) : Self.width
        let free = max(0, places - inFlight)
        inFlight += free
        return free
    }

    /// Gives places back that are not needed.
    mutating func release(_ places: Int) { inFlight -= places }

    /// Gives the place of an attempt back.
    mutating func end(_ outcome: ForwardOutcome, at now: Duration) {
        inFlight -= 1
        switch outcome {
        case .delivered, .refused: failures = 0
        case .unavailable:
            failures += 1
            pausedUntil = now + Self.doubled(.seconds(1), failures - Self.width, atMost: Self.longestPause)
        }
    }
}

/// How an attempt to forward a notification ended.
enum ForwardOutcome: Sendable, Equatable {
    /// The server answered 2xx.
    case delivered
    /// The server works, but does not take this notification.
    case refused(String)
    /// The server does not work.
    case unavailable(String)

    /// Why it failed, without the URL; `nil` if it did not.
    var failure: String? {
        switch self {
        case .delivered: nil
        case .refused(let reason), .unavailable(let reason): reason
        }
    }
}
