/// Assigns order IDs, as customers find them in the receipts that the App Store sends by e-mail: M and nine letters or digits.
///
/// An order ID contains the place of the order's first transaction, mixed with the seed, so a lookup needs no index.
struct OrderIDs: Sendable {
    private static let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
    private static let prefix = UInt8(ascii: "M")
    private static let digits = 9
    private static let mask: UInt64 = 1 << (5 * UInt64(digits)) - 1
    /// Odd, so multiplying by it can be undone.
    private static let multiplier: UInt64 = 0x5_DEEC_E66D
    /// `multiplier * inverse` is 1 modulo 2^64; each round of Newton's method doubles the number of right bits, 3 at first.
    private static let inverse: UInt64 = (0..<5).reduce(multiplier) { value, _ in value &* (2 &- multiplier &* value) }
    /// A customer has fewer transactions than 2 to the power of this.
    private static let positionBits: UInt64 = 12

    private let key: UInt64

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed, path: 10)
        key = random.next() & Self.mask
    }

    /// - `position`: The index of the order's first transaction among the customer's.
    func text(customer: Int, position: Int) -> String {
        var number = (UInt64(customer) << Self.positionBits | UInt64(position)) ^ key
        number = (number &* Self.multiplier) & Self.mask
        // Shifting by more than half of the bits undoes itself.
        number ^= number >> 23
        number = (number &* Self.multiplier) & Self.mask
        let letters = (0..<Self.digits).map { Self.alphabet[Int(number >> (5 * UInt64($0)) & 31)] }
        return String(decoding: [Self.prefix] + letters, as: UTF8.self)
    }

    /// The customer and the position that have this order ID; `nil` for a text that is not an order ID.
    ///
    /// There may be no such customer, or no such transaction.
    func place(of text: String) -> (customer: Int, position: Int)? {
        let bytes = Array(text.utf8)
        guard bytes.count == 1 + Self.digits, bytes[0] == Self.prefix else { return nil }
        var number: UInt64 = 0
        for byte in bytes.dropFirst().reversed() {
            guard let digit = Self.alphabet.firstIndex(of: byte) else { return nil }
            number = number << 5 | UInt64(digit)
        }
        number = (number &* Self.inverse) & Self.mask
        number ^= number >> 23
        number = (number &* Self.inverse) & Self.mask ^ key
        let position = number & (1 << Self.positionBits - 1)
        return (Int(number >> Self.positionBits), Int(position))
    }
}
