/// The sixteen bytes of a UUID in text of the form 8-4-4-4-12; `nil` for anything else.
func uuidBytes(_ text: String) -> [UInt8]? {
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
            guard digits[index].isHexadecimal, digits[index + 1].isHexadecimal else { return nil }
            bytes.append(digits[index].hexadecimalValue << 4 | digits[index + 1].hexadecimalValue)
            index += 2
        }
    }
    return bytes
}

extension UInt8 {
    /// Of an ASCII hexadecimal digit: letters lie 9 above their low four bits.
    fileprivate var hexadecimalValue: UInt8 {
        self & 0x0F + (self & 0x40 == 0 ? 0 : 9)
    }
}
