package import AppStoreModel

/// Whether a limiter lets requests through.
package enum LimiterState: Equatable, Sendable {
    case open
    /// Nothing is sent before the moment, by this machine's clock.
    case waiting(until: UnixMilliseconds, RateGrant.Reason)
}
