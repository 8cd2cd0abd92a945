import Basics

/// The least and the greatest value of a column chunk.
struct ValueBounds {
    /// Longer texts have no bounds in the file: bounds let a reader skip row groups, and nobody searches for long texts.
    private static let longestText = 64

    private var integers: ClosedRange<Int64>?
    private var texts: (least: [UInt8], greatest: [UInt8])?

    mutating func extend(by value: Int64) {
        guard let range = integers else { return integers = value...value }
        if !range.contains(value) { integers = min(range.lowerBound, value)...max(range.upperBound, value) }
    }

    /// Texts are compared byte by byte, without sign.
    mutating func extend(by value: Span<UInt8>) {
        guard let range = texts else { return texts = (Array(copying: value), Array(copying: value)) }
        if precedes(value, range.least.span) { texts?.least = Array(copying: value) }
        if precedes(range.greatest.span, value) { texts?.greatest = Array(copying: value) }
    }

    /// Encodes the bounds in PLAIN encoding, without the length of a text.
    ///
    /// - Parameter width: The bytes of an integer.
    /// - Returns: `nil` without values, or if a text is too long.
    func encoded(width: Int) -> (least: [UInt8], greatest: [UInt8])? {
        if let integers {
            var bytes: (least: [UInt8], greatest: [UInt8]) = ([], [])
            bytes.least.appendLittleEndian(integers.lowerBound, count: width)
            bytes.greatest.appendLittleEndian(integers.upperBound, count: width)
            return bytes
        }
        return texts.flatMap { max($0.least.count, $0.greatest.count) <= Self.longestText ? $0 : nil }
    }
}

private func precedes(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Bool {
    for index in 0..<min(first.count, second.count) where first[index] != second[index] {
        return first[index] < second[index]
    }
    return first.count < second.count
}
