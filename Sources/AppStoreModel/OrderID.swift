/// An order ID as in a customer's receipt: 1 to 64 ASCII letters, digits, hyphens and underscores.
///
/// Apple documents no format; the limits make the ID safe in a request path. IDs are compared as bytes.
package struct OrderID: Hashable, Sendable {
    package let text: String

    /// Returns `nil` unless `text` is `^[A-Za-z0-9_-]{1,64}$`.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
