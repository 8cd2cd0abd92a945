/// Permission to send one request now.
package struct Permit: Equatable, Sendable {
    /// When the permit expires, on `Timekeeper.monotonic`.
    ///
    /// The ledger stops counting a unit one window after it could last have been used. A process that was suspended
    /// while it held a permit must ask again. Otherwise Apple could see more requests in one window than the share
    /// allows.
    package let expires: Duration
    /// The last moment at which the request may be written to a connection, on `Timekeeper.monotonic`.
    ///
    /// DNS, connecting and TLS are part of the flight time that the ledger allows for. Half of it is reserved for the
    /// way to Apple.
    package let departsBy: Duration
    /// The number of closings before the permit was issued.
    ///
    /// A later closing cancels the unit.
    let closing: Int

    /// Whether the request may be sent at `now`, on `Timekeeper.monotonic`.
    package func isValid(at now: Duration) -> Bool {
        now <= expires
    }
}
