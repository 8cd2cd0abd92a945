package import AppStoreModel

/// The settings of a rate limiter.
package struct LimiterTerms: Equatable, Sendable {
    /// The fewest units requested from the ledger at once: 1 at Apple's limits.
    ///
    /// A unit allows one request. At thousands of requests a second, asking for each unit would cost more than the requests.
    package let leastBlock: Int
    /// The most units requested from the ledger at once.
    package let blockLimit: Int
    /// How long after the ledger was asked for a unit a request may take it.
    package let grantLife: Duration
    /// How long after ``grantLife`` such a request may still be sent: half of the flight time that the ledger allows for.
    package let departureDelay: Duration

    /// - Parameters:
    ///   - requestsPerSecond: Above zero.
    ///   - window: An hour with Apple. In a run against the simulator it can be shorter, and all other times shrink with it.
    package init(requestsPerSecond: Double, window: RateWindow = .hour) {
        precondition(requestsPerSecond > 0, "a limit that allows nothing")
        leastBlock = max(1, Int(min(requestsPerSecond / 50, 1_000)))
        blockLimit = max(25, leastBlock)
        grantLife = window.grantLife
        departureDelay = window.flightTime / 2
    }
}
