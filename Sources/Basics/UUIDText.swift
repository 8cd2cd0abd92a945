/// UUIDs as text of the form 8-4-4-4-12, and as their sixteen bytes.
package enum UUIDText {
    /// - Returns: The sixteen bytes; `nil` for text of another form. Digits may be in either case.
    package static func bytes(of text: String) -> [UInt8]? {
        let digits = text.utf8.span
        guard digits.count == 36 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var index = 0
        while index < digits.count {
            switch index {
            case 8, 13, 18, 23:
                guard digits[index] == UInt8(ascii: "-") else { return nil }
                index += 1
            default:
                guard let high = hexadecimalValue(ofDigit: digits[index]),
                    let low = hexadecimalValue(ofDigit: digits[index + 1])
                else { return nil }
                bytes.append(high << 4 | low)
                index += 2
            }
        }
        return bytes
    }

    /// The same, also for the other forms in which programs write UUIDs: in braces, after `urn:uuid:`, and without hyphens.
    ///
    /// - Parameter text: As someone wrote it.
    /// - Returns: The sixteen bytes; `nil` for other text.
    package static func bytes(ofAnyForm text: String) -> [UInt8]? {
        var digits = text[...]
        if digits.lowercased().hasPrefix("urn:uuid:") { digits = digits.dropFirst(9) }
        if digits.hasPrefix("{"), digits.hasSuffix("}"), digits.count > 1 { digits = digits.dropFirst().dropLast() }
        guard digits.utf8.count == 32, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "-") }) else {
            return bytes(of: String(digits))
        }
        var form = String(digits)
        for place in [20, 16, 12, 8] { form.insert("-", at: form.utf8.index(form.startIndex, offsetBy: place)) }
        return bytes(of: form)
    }

    /// - Parameter bytes: Sixteen.
    /// - Returns: Text with lower-case digits.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of ``text(of:)`` as ASCII.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes, not \(bytes.count)")
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digit(byte >> 4))
            text.append(digit(byte & 0x0F))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
