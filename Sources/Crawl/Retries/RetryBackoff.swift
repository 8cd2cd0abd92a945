/// The wait before the next attempt: a random part of a time that doubles with each attempt ("full jitter").
///
/// Full jitter spreads the attempts of many workers over the whole time, so that they do not arrive together.
package struct RetryBackoff: Equatable, Sendable {
    /// Attempts per page, including the first.
    package static let attemptsPerPage = 5
    /// For server errors and network failures.
    package static let ordinary = RetryBackoff(cap: .seconds(20))
    /// For errors that Apple documents as retryable after a short delay.
    package static let short = RetryBackoff(cap: .seconds(2))

    /// The shortest wait, so that random values near zero do not cause a busy loop.
    package static let floor = Duration.milliseconds(50)
    private static let base = Duration.milliseconds(500)

    private let cap: Duration

    /// The wait after the attempt with number `attempt` failed.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first.
    ///   - random: In `0..<1`.
    /// - Returns: From ``floor`` to the doubled time, which is at most 20 s, or 2 s for ``short``.
    package func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        // 2^10 * 0.5 s exceeds every cap.
        let doublings = min(max(attempt, 1), 11) - 1
        let span = min(Self.base * (1 << doublings), cap)
        return max(span * random, Self.floor)
    }
}
