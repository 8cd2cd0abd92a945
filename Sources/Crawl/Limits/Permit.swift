/// One request may be sent, now.
package struct Permit: Equatable, Sendable {
    /// On `Timekeeper.monotonic`: when the unit is burned.
    ///
    /// The ledger stops counting a unit one window after it could last have been used. A process that was
    /// suspended with a permit in hand must ask again, or Apple sees more than the share in one window.
    package let expires: Duration
    /// On `Timekeeper.monotonic`: the last moment at which the request may go out on a connection.
    ///
    /// Looking up a name, connecting and TLS are part of the flight that the ledger allows for; half of it is left to reach
    /// Apple.
    package let departsBy: Duration
    /// Which closing of the limiter came before it; a later one takes the unit away.
    let closing: Int

    /// Whether the request may be handed to the network at `now`, on `Timekeeper.monotonic`.
    package func isValid(at now: Duration) -> Bool {
        now <= expires
    }
}
