package import AppStoreModel

/// The ledger's answer to a request for units.
package struct RateGrant: Equatable, Sendable {
    /// Why nothing was granted; the function `rate_take` returns the raw values.
    package enum Refusal: String, Sendable {
        /// The limit is not spent; the wait only spreads requests evenly.
        case pace
        /// The limit is spent.
        case budget
        /// Apple answered 429.
        case closed
        /// The ledger's clock was set back.
        case clock
    }

    /// From 0 to the requested count.
    package let granted: Int
    /// How long to wait before asking again; above zero if nothing was granted.
    package let wait: Duration
    /// `nil` if something was granted.
    package let refusal: Refusal?
    /// The ledger's clock when it answered; `nil` for a ledger without its own clock.
    package let clock: UnixMilliseconds?
    /// The moment that the clock has to reach before anything is granted; `nil` unless ``refusal`` is ``Refusal/clock``.
    package let latest: UnixMilliseconds?

    package init(
        granted: Int,
        wait: Duration,
        refusal: Refusal? = nil,
        clock: UnixMilliseconds? = nil,
        latest: UnixMilliseconds? = nil
    ) {
        self.granted = granted
        self.wait = wait
        self.refusal = refusal
        self.clock = clock
        self.latest = latest
    }
}
