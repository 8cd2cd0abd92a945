import Glibc

/// The positions of the three segments in the text of a compact JWS (RFC 7515, section 7.1).
package struct CompactJWS {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    /// The signed part: header, dot and payload.
    var signed: Range<Int> { 0..<payload.upperBound }

    /// Finds the dots before decoding or copying, and stops at the third.
    init(_ text: Span<UInt8>, maximumBytes: Int) throws(JWSRejection) {
        let looked = text.extracting(first: min(text.count, maximumBytes + 1))
        let first = Self.dot(in: looked, from: 0)
        let second = first.flatMap { Self.dot(in: looked, from: $0 + 1) }
        guard second.flatMap({ Self.dot(in: looked, from: $0 + 1) }) == nil else {
            throw JWSRejection(.format, "There are more than 3 segments.")
        }
        guard text.count <= maximumBytes else {
            throw JWSRejection(.size, "The record has \(text.count) bytes; at most \(maximumBytes) are read.")
        }
        guard let first, let second else { throw JWSRejection(.format, "There are fewer than 3 segments.") }
        header = 0..<first
        payload = first + 1..<second
        signature = second + 1..<text.count
        guard !header.isEmpty, !payload.isEmpty else { throw JWSRejection(.format, "A segment is empty.") }
        guard Self.isSegmentEdge(text[0]), Self.isSegmentEdge(text[text.count - 1]) else {
            throw JWSRejection(.format, "There is something before or after the record.")
        }
    }

    private static func dot(in text: Span<UInt8>, from start: Int) -> Int? {
        unsafe text.withUnsafeBytes { text in
            guard let base = text.baseAddress,
                let dot = unsafe memchr(base + start, Int32(UInt8(ascii: ".")), text.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(dot) - base
        }
    }

    /// Distinguishes white space, control characters and byte order marks around a record from those inside one.
    private static func isSegmentEdge(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte)
    }
}
