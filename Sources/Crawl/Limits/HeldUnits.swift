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

    /// No units at all.
    static let none = HeldUnits(count: 0, asked: .zero, life: .zero)

    func isEmpty(at now: Duration) -> Bool {
        count == 0 || now > expires
    }

    /// Takes one unit; `false` when there is none or its time is over.
    mutating func take(at now: Duration) -> Bool {
        guard !isEmpty(at: now) else { return false }
        count -= 1
        return true
    }

    /// Puts one unit back that was taken and not used.
    mutating func putBack() {
        count += 1
    }
}
