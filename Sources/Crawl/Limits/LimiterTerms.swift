package import AppStoreModel

/// The figures a rate limiter works by.
package struct LimiterTerms: Equatable, Sendable {
    /// Units asked for at once, at least: 1 at Apple's figures.
    ///
    /// Asking for each of thousands of requests a second would cost more than sending them.
    package let leastBlock: Int
    /// Units asked for at once, at most.
    package let blockLimit: Int
    /// How long after the ledger was asked a unit may still be sent.
    package let grantLife: Duration
    /// How long after ``grantLife`` a request may still go out: half of the flight the ledger allows for.
    package let departureDelay: Duration

    /// - Parameters:
    ///   - requestsPerSecond: Above zero.
    ///   - window: An hour against Apple; shorter in a rehearsal, and then every other time shrinks with it.
    package init(requestsPerSecond: Double, window: RateWindow = .hour) {
        precondition(requestsPerSecond > 0, "a limit that allows nothing")
        leastBlock = max(1, Int(min(requestsPerSecond / 50, 1_000)))
        blockLimit = max(25, leastBlock)
        grantLife = window.grantLife
        departureDelay = window.flightTime / 2
    }
}
