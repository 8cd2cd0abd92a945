/// Permission to send one request now.
package struct Permit: Equatable, Sendable {
    /// When the permit expires, on `Timekeeper.monotonic`.
    ///
    /// The ledger stops counting a unit one window after it could last have been used. A process that was suspended
    /// while it had a permit must ask again. Otherwise Apple could see more requests in one window than the share
    /// allows.
    package let expires: Duration
    /// The last moment at which the request may be written to a connection, on `Timekeeper.monotonic`.
    ///
    /// The ledger allows for a flight time after ``expires``. Its first half is for DNS, connecting and TLS. Its second
    /// half is for the way to Apple.
    package let departsBy: Duration
    /// The number of closings before the permit was issued; see ``ClosingStreak``.
    ///
    /// A closing discards all units that this process has. So after a later closing, a permit cannot be given back.
    let closingsBefore: Int

    /// Whether the request may be sent at `now`, on `Timekeeper.monotonic`.
    package func isValid(at now: Duration) -> Bool {
        now <= expires
    }
}
