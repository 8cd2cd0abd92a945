extension [UInt8] {
    /// Appends a number in groups of seven bits, the lowest first.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends the lowest `count` bytes of a number, the lowest first.
    mutating func appendLittleEndian(_ value: Int64, count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}
