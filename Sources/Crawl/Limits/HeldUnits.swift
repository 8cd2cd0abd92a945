/// Units the ledger granted and nobody has used yet.
///
/// Units die with age: what is left when their life is over is burned, never sent.
struct HeldUnits: Sendable {
    private(set) var count: Int
    let expires: Duration

    /// Begins the life of units.
    ///
    /// - Parameters:
    ///   - count: What the ledger granted.
    ///   - asked: When the ledger was asked, not when it answered: the ledger may have counted the units at any moment
    ///     between the two, and the earliest is the only safe one.
    ///   - life: How long after `asked` a request may still be sent.
    init(count: Int, asked: Duration, life: Duration) {
        self.count = count
        expires = asked + life
    }

    /// One unit that was taken and not used; it is no younger for it.
    init(returning permit: Permit) {
        count = 1
        expires = permit.expires
    }

    func isEmpty(at now: Duration) -> Bool {
        count == 0 || now > expires
    }

    /// Takes one unit; `false` when there is none or its time is over.
    mutating func take(at now: Duration) -> Bool {
        guard !isEmpty(at: now) else { return false }
        count -= 1
        return true
    }
}
