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

    /// - Parameter bytes: Sixteen.
    /// - Returns: Text with lower-case digits.
    package static func text(of bytes: [UInt8]) -> String {
        precondition(bytes.count == 16, "a UUID has 16 bytes, not \(bytes.count)")
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].hexadecimal }.joined(separator: "-")
    }
}
