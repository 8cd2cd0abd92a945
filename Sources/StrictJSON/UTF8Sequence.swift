/// Checks the UTF-8 of non-ASCII text in a document.
enum UTF8Sequence {
    /// The length in bytes of the well-formed UTF-8 sequence that begins at `start` with a byte above 0x7F.
    ///
    /// Source: The Unicode Standard, table 3-7, Well-Formed UTF-8 Byte Sequences.
    static func length(in bytes: [UInt8], at start: Int) throws(StrictJSONError) -> Int {
        let (second, length): (ClosedRange<UInt8>, Int) =
            switch bytes[start] {
            case 0xC2...0xDF: (0x80...0xBF, 2)
            case 0xE0: (0xA0...0xBF, 3)
            case 0xE1...0xEC, 0xEE...0xEF: (0x80...0xBF, 3)
            case 0xED: (0x80...0x9F, 3)
            case 0xF0: (0x90...0xBF, 4)
            case 0xF1...0xF3: (0x80...0xBF, 4)
            case 0xF4: (0x80...0x8F, 4)
            default: throw StrictJSONError(reason: .encoding, offset: start)
            }
        guard start + length <= bytes.count, second ~= bytes[start + 1],
            bytes[start + 2..<start + length].allSatisfy({ 0x80...0xBF ~= $0 })
        else { throw StrictJSONError(reason: .encoding, offset: start) }
        return length
    }

    /// The error for a byte at `offset` that the syntax does not allow, or for a document that ends there.
    ///
    /// If invalid UTF-8 begins at the byte, the reason is `encoding`; otherwise `json`.
    static func unexpected(in bytes: [UInt8], at offset: Int) -> StrictJSONError {
        guard offset < bytes.count, bytes[offset] >= 0x80 else { return StrictJSONError(reason: .json, offset: offset) }
        do throws(StrictJSONError) {
            _ = try length(in: bytes, at: offset)
            return StrictJSONError(reason: .json, offset: offset)
        } catch {
            return error
        }
    }
}
