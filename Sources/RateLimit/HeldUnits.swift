/// Units of the limit that the ledger has granted and no request has used yet.
///
/// Units expire. An expired unit is lost: no request may use it.
struct HeldUnits: Sendable {
    private(set) var count: Int
    let expires: Duration

    /// - Parameters:
    ///   - count: The units that the ledger granted.
    ///   - asked: When the ledger was asked, not when it answered. The ledger may have counted the units at any moment
    ///     between the two, so only the earliest is safe.
    ///   - life: How long after `asked` a request may still be sent.
    init(count: Int, asked: Duration, life: Duration) {
        self.count = count
        expires = asked + life
    }

    /// One unit that was taken and not used.
    ///
    /// It expires when it would have expired before.
    init(returning permit: Permit) {
        count = 1
        expires = permit.expires
    }

    func isEmpty(at now: Duration) -> Bool {
        count == 0 || now > expires
    }

    /// Takes one unit.
    ///
    /// Returns `false` if none is left or the units have expired.
    mutating func take(at now: Duration) -> Bool {
        guard !isEmpty(at: now) else { return false }
        count -= 1
        return true
    }
}
