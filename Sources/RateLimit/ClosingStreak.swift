/// Counts how often Apple closed the endpoint with 429.
///
/// Requests that were in flight when the limiter closed are answered 429 as well. They belong to the same closing.
struct ClosingStreak: Sendable {
    /// A closing within this time after the end of the last one is a repeat, because the limit was not free yet.
    static let repeatWithin = Duration.seconds(60)

    /// Closings so far.
    ///
    /// Further 429 answers within one closing are not counted.
    private(set) var count = 0
    private var streak = 0
    private var closedUntil: Duration?

    /// The end of the current closing, or `nil` if the limiter is open at `now`.
    func end(at now: Duration) -> Duration? {
        guard let closedUntil, now < closedUntil else { return nil }
        return closedUntil
    }

    /// The position that a closing at `now` has in a row of closings: 1 for the first.
    func consecutive(at now: Duration) -> Int {
        guard let closedUntil else { return 1 }
        if now < closedUntil { return streak }
        return now - closedUntil <= Self.repeatWithin ? streak + 1 : 1
    }

    /// Records a 429.
    mutating func close(until moment: Duration, at now: Duration) {
        streak = consecutive(at: now)
        if end(at: now) == nil { count += 1 }
        closedUntil = max(moment, closedUntil ?? moment)
    }
}
