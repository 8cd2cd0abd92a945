/// Where the three segments of a compact JWS lie in its text (RFC 7515, section 7.1).
package struct CompactJWS {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    /// Header, dot and payload: what the signature covers.
    var signed: Range<Int> { 0..<payload.upperBound }

    /// Finds the dots before anything is measured, decoded or copied, and stops at the third.
    init(_ text: Span<UInt8>, maximumBytes: Int) throws(JWSRejection) {
        var dots: (first: Int, second: Int)? = nil
        var first: Int? = nil
        for index in 0..<min(text.count, maximumBytes + 1) where text[index] == UInt8(ascii: ".") {
            if let begin = first {
                guard dots == nil else { throw JWSRejection(.format, "There are more than 3 segments.") }
                dots = (begin, index)
            } else {
                first = index
            }
        }
        guard text.count <= maximumBytes else {
            throw JWSRejection(.size, "The record has \(text.count) bytes; at most \(maximumBytes) are read.")
        }
        guard let dots else { throw JWSRejection(.format, "There are fewer than 3 segments.") }
        header = 0..<dots.first
        payload = dots.first + 1..<dots.second
        signature = dots.second + 1..<text.count
        guard !header.isEmpty, !payload.isEmpty else { throw JWSRejection(.format, "A segment is empty.") }
        guard Self.isSegmentEdge(text[0]), Self.isSegmentEdge(text[text.count - 1]) else {
            throw JWSRejection(.format, "There is something before or after the record.")
        }
    }

    /// White space, control characters and byte order marks around a record are another fault than inside one.
    private static func isSegmentEdge(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte)
    }
}
