/// How many notifications may be posted to one URL now, and when a failed one is posted again.
///
/// A rule without clock: callers pass the time since an arbitrary start.
struct ForwardPace: Sendable {
    /// The places of a URL that no more apps than this share.
    static let width = 8
    /// The longest delay between two attempts of a notification.
    static let longestDelay = Duration.seconds(3_600)
    /// The longest pause after failures without `Retry-After`.
    static let longestPause = Duration.seconds(60)

    private let apps: Int
    /// The places in use, by app.
    private var inFlight: [String: Int] = [:]
    /// How often in a row the server did not work.
    private var failures = 0
    private var pausedUntil = Duration.zero

    /// - Parameter apps: The number of apps whose notifications go to the URL.
    init(apps: Int = 1) { self.apps = apps }

    /// The most requests in flight: one place for each app, and the rest for all of them.
    var places: Int { max(Self.width, apps) }

    /// The delay before the next attempt of a notification: 1 s after the first, and twice as long after each further one.
    static func delay(after attempt: Int32) -> Duration {
        doubled(.seconds(1), Int(attempt) - 1, atMost: longestDelay)
    }

    private static func doubled(_ first: Duration, _ times: Int, atMost longest: Duration) -> Duration {
        times < 16 ? min(first * (1 << max(0, times)), longest) : longest
    }

    /// Takes all free places for an app; each is given back with ``release(_:of:)`` or ``end(_:of:at:)``.
    ///
    /// While the URL does not work, there is one place after each pause, so that a dead server costs little.
    ///
    /// - Returns: The number of places.
    mutating func reserve(for app: String, at now: Duration) -> Int {
        guard now >= pausedUntil else { return 0 }
        let free: Int
        if failures >= Self.width {
            free = inFlight.values.allSatisfy { $0 == 0 } ? 1 : 0
        } else {
            let shared = places - apps - inFlight.values.reduce(0) { $0 + max(0, $1 - 1) }
            free = shared + (inFlight[app, default: 0] == 0 ? 1 : 0)
        }
        inFlight[app, default: 0] += free
        return free
    }

    /// Gives places back that are not needed.
    mutating func release(_ places: Int, of app: String) { inFlight[app, default: 0] -= places }

    /// Gives the place of an attempt back.
    mutating func end(_ outcome: ForwardOutcome, of app: String, at now: Duration) {
        release(1, of: app)
        switch outcome {
        case .delivered, .refused: failures = 0
        case .unavailable(_, let wait):
            failures += 1
            let pause =
                failures < Self.width
                ? .zero : Self.doubled(.seconds(1), failures - Self.width, atMost: Self.longestPause)
            pausedUntil = max(pausedUntil, now + max(pause, wait))
        }
    }
}

/// How an attempt to forward a notification ended.
enum ForwardOutcome: Sendable, Equatable {
    /// The server answered 2xx.
    case delivered
    /// The server works, but does not take this notification.
    case refused(String)
    /// The server does not work; `wait` is what its `Retry-After` asks for, zero without one.
    case unavailable(String, wait: Duration = .zero)

    /// Why it failed, without the URL; `nil` if it did not.
    var failure: String? {
        switch self {
        case .delivered: nil
        case .refused(let reason), .unavailable(let reason, _): reason
        }
    }

    /// The delay before the notification is posted again.
    func delay(after attempt: Int32) -> Duration {
        guard case .unavailable(_, let wait) = self else { return ForwardPace.delay(after: attempt) }
        return max(wait, ForwardPace.delay(after: attempt))
    }
}
