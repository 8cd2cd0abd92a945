/// The sixteen bytes of a UUID in text of the form 8-4-4-4-12; `nil` for anything else.
func uuidBytes(_ text: String) -> [UInt8]? {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard groups.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
    let digits = Array(groups.joined())
    guard digits.allSatisfy(\.isHexadecimal) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { index in
        digits[index].hexadecimalValue << 4 | digits[index + 1].hexadecimalValue
    }
}

extension UInt8 {
    /// Of an ASCII hexadecimal digit: letters lie 9 above their low four bits.
    fileprivate var hexadecimalValue: UInt8 {
        self & 0x0F + (self & 0x40 == 0 ? 0 : 9)
    }
}
