/// A JSON number as text, so that it is not rounded before it is stored.
package struct JSONNumber: Equatable, Sendable {
    /// A number in the syntax of RFC 8259.
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// The value if it is written as an integer, without fraction and exponent, and fits.
    package var int64: Int64? {
        Int64(text)
    }

    /// The value rounded down to an integer, computed exactly; `nil` if it does not fit.
    ///
    /// Dates are whole milliseconds, but some of Apple's sources write `1697679936049.7297` or `1.6981489E12`.
    package var flooredInt64: Int64? {
        if let int64 { return int64 }
        let parts = text.split(whereSeparator: { $0 == "e" || $0 == "E" })
        guard let mantissa = parts.first, let exponent = parts.count == 2 ? Int(parts[1]) : 0,
            Self.smallExponents.contains(exponent)
        else {
            return nil
        }
        let isNegative = mantissa.hasPrefix("-")
        let halves = mantissa.drop { $0 == "-" }.split(separator: ".")
        let digits = halves.joined()
        // The position of the decimal point in the digits.
        let point = halves[0].count + exponent
        let whole = point > 0 ? digits.prefix(point) + String(repeating: "0", count: max(0, point - digits.count)) : "0"
        let hasFraction = digits.dropFirst(max(0, point)).contains { $0 != "0" }
        guard let magnitude = Int64(whole) else { return nil }
        guard isNegative else { return magnitude }
        return hasFraction ? -magnitude - 1 : -magnitude
    }

    /// The most bytes of a number that is sent to PostgreSQL as a number.
    static let longestSafeText = 40

    /// Whether PostgreSQL can store it as jsonb without expanding it: `1e131071` has 131,072 digits there.
    package var isSafeInDatabase: Bool {
        guard text.utf8.count <= Self.longestSafeText else { return false }
        guard let mark = text.utf8.lastIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return true }
        guard let exponent = Int(text[text.utf8.index(after: mark)...]) else { return false }
        return Self.smallExponents.contains(exponent)
    }

    /// A range, because the smallest `Int` has no magnitude.
    private static let smallExponents = -64...64
}
