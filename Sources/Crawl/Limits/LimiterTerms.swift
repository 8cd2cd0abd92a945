/// The figures a rate limiter works by.
package struct LimiterTerms: Equatable, Sendable {
    /// What the ledger grants in a second when nothing is wrong: the job's share of Apple's figure.
    package let requestsPerSecond: Double
    /// Units asked for at once, at most.
    package let blockLimit: Int
    /// How long after the ledger was asked a unit may still be sent.
    package let grantLife: Duration
    /// How long without a 429 regains a step of the share.
    package let quietPeriod: Duration

    /// - Parameters:
    ///   - requestsPerSecond: Above zero.
    ///   - window: An hour against Apple; shorter in a rehearsal, and then every other time shrinks with it.
    ///   - blockLimit: At least 1.
    package init(requestsPerSecond: Double, window: Duration = .seconds(3_600), blockLimit: Int = 25) {
        precondition(requestsPerSecond > 0 && window > .zero && blockLimit >= 1, "a limit that allows nothing")
        self.requestsPerSecond = requestsPerSecond
        self.blockLimit = blockLimit
        grantLife = window / 360
        quietPeriod = window / 6
    }
}
