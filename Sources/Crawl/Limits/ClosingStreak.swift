/// The times Apple answered 429, told apart: many answers of one closing count once.
///
/// Requests that were on their way when the limiter closed are answered 429 as well; they say nothing new.
struct ClosingStreak: Sendable {
    /// A closing this soon after the last one ended is its repeat: the limit was not free again after all.
    static let repeatWithin = Duration.seconds(60)

    /// Closings so far, answers within one not counted.
    private(set) var count = 0
    private var streak = 0
    private var closedUntil: Duration?

    /// The end of the closing that `now` lies in.
    func end(at now: Duration) -> Duration? {
        guard let closedUntil, now < closedUntil else { return nil }
        return closedUntil
    }

    /// Which closing in a row one at `now` is: 1 for the first.
    func consecutive(at now: Duration) -> Int {
        guard let closedUntil else { return 1 }
        if now < closedUntil { return streak }
        return now - closedUntil <= Self.repeatWithin ? streak + 1 : 1
    }

    /// Notes a 429.
    mutating func close(until moment: Duration, at now: Duration) {
        streak = consecutive(at: now)
        if end(at: now) == nil { count += 1 }
        closedUntil = max(moment, closedUntil ?? moment)
    }
}
