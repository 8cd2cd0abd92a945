/// How long to wait before the next attempt: a random part of a time that doubles ("full jitter").
///
/// Full jitter spreads the attempts of many workers over the whole span, so that they do not come back together.
package struct RetryBackoff: Equatable, Sendable {
    /// Attempts at one page, the first included.
    package static let attemptsPerPage = 5
    /// For a server or a network that is unwell.
    package static let ordinary = RetryBackoff(cap: .seconds(20))
    /// For what Apple calls retryable after a short delay.
    package static let short = RetryBackoff(cap: .seconds(2))

    /// Never shorter, so that chance cannot make a busy loop.
    package static let floor = Duration.milliseconds(50)
    private static let base = Duration.milliseconds(500)

    private let cap: Duration

    /// The wait after attempt number `attempt` has failed.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first.
    ///   - random: In `0..<1`.
    /// - Returns: ``floor`` to the doubled time, and never more than 20 s.
    package func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        // 2^10 * 0.5 s is beyond every cap.
        let doublings = min(max(attempt, 1), 11) - 1
        let span = min(Self.base * (1 << doublings), cap)
        return max(span * random, Self.floor)
    }
}
