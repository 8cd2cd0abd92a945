import Basics

/// The positions of the three segments in the text of a compact JWS (RFC 7515, section 7.1).
package struct CompactJWS {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    /// The signed part: header, dot and payload.
    var signed: Range<Int> { 0..<payload.upperBound }

    /// Finds the dots without decoding or copying; a third dot is an error.
    init(_ text: Span<UInt8>, maximumBytes: Int) throws(JWSRejection) {
        let read = text.extracting(first: min(text.count, maximumBytes + 1))
        let first = Self.dot(in: read, from: 0)
        let second = first.flatMap { Self.dot(in: read, from: $0 + 1) }
        guard second.flatMap({ Self.dot(in: read, from: $0 + 1) }) == nil else {
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
        text.firstIndex(of: UInt8(ascii: "."), from: start)
    }

    /// Whether a record can begin and end with this byte.
    ///
    /// Reports white space, control characters and byte order marks around a record as such, not as bad base64.
    private static func isSegmentEdge(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte)
    }
}
