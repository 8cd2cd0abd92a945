/// Splits the messages that ``PostgresConnection/copyOutBinary(_:_:)`` delivers into cells.
///
/// The first message has the header before its row, and the last one has no row. Source: PostgreSQL manual, `COPY`, "Binary
/// Format".
package struct CopyBinaryRow {
    /// A signature of 11 bytes, the flags, and the length of an extension, which PostgreSQL leaves empty.
    private static let headerLength = 19

    private var isFirst = true

    package init() {}

    /// Calls `body` for each cell of a row.
    ///
    /// - Parameters:
    ///   - message: The bytes of one message.
    ///   - body: Gets the index of the cell, from 0, and its bytes in the binary format of its type, which are valid during
    ///     the call; `nil` is NULL.
    /// - Returns: Whether the message has a row.
    package mutating func forEachCell(
        of message: Span<UInt8>,
        _ body: (Int, Span<UInt8>?) throws -> Void
    ) rethrows -> Bool {
        var start = isFirst ? Self.headerLength : 0
        isFirst = false
        let count = Int16(truncatingIfNeeded: binaryInteger(message.extracting(start..<(start + 2))))
        guard count >= 0 else { return false }
        start += 2
        for place in 0..<Int(count) {
            let length = Int(binaryInteger(message.extracting(start..<(start + 4))))
            start += 4
            guard length >= 0 else {
                try body(place, nil)
                continue
            }
            try body(place, message.extracting(start..<(start + length)))
            start += length
        }
        return true
    }
}

/// A signed integer of at most eight bytes, the highest first.
///
/// This is PostgreSQL's binary format of integers, of moments (microseconds since 2000-01-01T00:00:00Z) and of dates (days since
/// 2000-01-01).
package func binaryInteger(_ bytes: Span<UInt8>) -> Int64 {
    var value: Int64 = bytes.isEmpty || bytes[0] < 0x80 ? 0 : -1
    for index in bytes.indices { value = value << 8 | Int64(bytes[index]) }
    return value
}
