/// A transaction ID of 1 to 20 ASCII digits, which is safe in a request path.
///
/// IDs are compared as bytes, not as numbers: `"00012"` and `"12"` are two IDs.
package struct TransactionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// Returns `nil` unless `text` is `^[0-9]{1,20}$`.
    package init?(_ text: String) {
        guard Self.isValid(text.utf8.span) else { return nil }
        self.text = text
    }

    static func isValid(_ text: Span<UInt8>) -> Bool {
        guard (1...20).contains(text.count) else { return false }
        for index in text.indices where !(0x30...0x39).contains(text[index]) { return false }
        return true
    }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
