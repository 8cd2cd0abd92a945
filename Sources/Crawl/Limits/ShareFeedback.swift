/// How much of the share is used while Apple complains: halved by a 429, regained slowly.
///
/// A 429 that comes although the ledger stayed within its share says that somebody else draws from the same
/// limit: the app's own servers, which must win. Rule R10, additive increase and multiplicative decrease.
package struct ShareFeedback: Equatable, Sendable {
    /// The share never falls below this, so that a crawl always goes on.
    package static let floor = 0.05
    /// What every quiet period gives back.
    package static let step = 0.05

    private let quietPeriod: Duration
    private var factorAtChange = 1.0
    private var lastChange = Duration.zero

    /// - Parameter quietPeriod: 10 minutes against Apple; shorter with a shorter window.
    package init(quietPeriod: Duration = .seconds(600)) {
        precondition(quietPeriod > .zero, "time without a 429 must be something to wait for")
        self.quietPeriod = quietPeriod
    }

    /// The part of the share to use at `now`, on `Timekeeper.monotonic`: ``floor`` to 1.
    package func factor(at now: Duration) -> Double {
        guard factorAtChange < 1 else { return 1 }
        let quietPeriods = ((now - lastChange) / quietPeriod).rounded(.down)
        return min(1, factorAtChange + max(0, quietPeriods) * Self.step)
    }

    /// Apple answered 429 at `now`, on `Timekeeper.monotonic`.
    package mutating func rateLimited(at now: Duration) {
        factorAtChange = max(Self.floor, factor(at: now) / 2)
        lastChange = now
    }
}
