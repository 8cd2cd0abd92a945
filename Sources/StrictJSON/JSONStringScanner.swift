/// Scans one string of a document, from after its opening quote to its closing quote.
struct JSONStringScanner {
    private let bytes: [UInt8]
    /// The next byte to read.
    private(set) var offset: Int

    init(_ bytes: [UInt8], at offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Moves to the closing quote, and returns whether the string contains escapes.
    mutating func skip() throws(StrictJSONError) -> Bool {
        try skipUnescaped()
        guard bytes[offset] == UInt8(ascii: "\\") else { return false }
        while bytes[offset] == UInt8(ascii: "\\") {
            _ = try escape()
            try skipUnescaped()
        }
        return true
    }

    /// The text of a string that has been scanned before.
    static func unescaped(_ range: Range<Int>, of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        var scanner = JSONStringScanner(bytes, at: range.lowerBound)
        do throws(StrictJSONError) {
            while true {
                let start = scanner.offset
                try scanner.skipUnescaped()
                text.append(contentsOf: bytes[start..<scanner.offset])
                guard scanner.offset < range.upperBound else { return String(decoding: text, as: UTF8.self) }
                text.append(contentsOf: String(try scanner.escape()).utf8)
            }
        } catch {
            preconditionFailure("a string that was scanned before is now invalid: \(error)")
        }
    }

    /// Moves to the closing quote or the next backslash.
    private mutating func skipUnescaped() throws(StrictJSONError) {
        let bytes = bytes
        var next = Self.endOfPlainText(of: bytes.span, from: offset)
        while next < bytes.count {
            let byte = bytes[next]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                offset = next
                return
            }
            if byte < 0x20 { throw StrictJSONError(reason: byte == 0 ? .nul : .json, offset: next) }
            if byte < 0x80 {
                next += 1
            } else {
                next += try UTF8Sequence.length(in: bytes, at: next)
            }
        }
        throw StrictJSONError(reason: .json, offset: next)
    }

    /// Skips printable ASCII other than quote and backslash.
    static func endOfPlainText(of span: Span<UInt8>, from start: Int) -> Int {
        var next = start
        while span.count - next >= 8 {
            // Any eight bytes are a valid UInt64.
            let word = unsafe span.bytes.unsafeLoadUnaligned(fromByteOffset: next, as: UInt64.self)
            let marks = marksOfOtherText(in: UInt64(littleEndian: word))
            guard marks == 0 else { return next + marks.trailingZeroBitCount / 8 }
            next += 8
            if next - start == 32 { next = endOfPlainChunks(of: span, from: next) }
        }
        while next < span.count, marksOfOtherText(in: UInt64(span[next]) | 0x2020_2020_2020_2000) == 0 { next += 1 }
        return next
    }

    /// Marks the first byte that is a quote, a backslash, a control character or not ASCII.
    ///
    /// The lowest set bit is the highest bit of that byte. Higher bits are undefined.
    private static func marksOfOtherText(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highest = ones << 7
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        // A borrow can only change the bytes after the first match.
        let less = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
        return (less | word) & highest
    }

    /// Skips plain text 32 bytes at a time.
    ///
    /// A record is a string of thousands of such bytes. The inner loop has no branches, so that it compiles to a few
    /// vector instructions. This takes a tenth of the time of a loop over bytes.
    private static func endOfPlainChunks(of span: Span<UInt8>, from start: Int) -> Int {
        let width = 32
        var next = start
        while span.count - next >= width {
            let chunk = span.extracting(next..<next + width)
            var found: UInt8 = 0
            for index in 0..<width {
                let byte = chunk[index]
                found |= byte == UInt8(ascii: "\"") ? 1 : 0
                found |= byte == UInt8(ascii: "\\") ? 1 : 0
                found |= byte < 0x20 ? 1 : 0
                found |= byte >= 0x80 ? 1 : 0
            }
            guard found == 0 else { break }
            next += width
        }
        return next
    }

    /// Reads the escape that begins here, and returns its character.
    private mutating func escape() throws(StrictJSONError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        guard offset < bytes.count else { throw StrictJSONError(reason: .json, offset: offset) }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try escapedScalar(from: start)
        default: throw StrictJSONError(reason: .json, offset: start)
        }
    }

    /// The scalar of `\uXXXX` or of a surrogate pair; a lone surrogate is an error.
    private mutating func escapedScalar(from start: Int) throws(StrictJSONError) -> Unicode.Scalar {
        let unit = try hexadecimalUnit()
        guard unit != 0 else { throw StrictJSONError(reason: .nul, offset: start) }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), bytes[offset...].starts(with: #"\u"#.utf8) else {
            throw StrictJSONError(reason: .json, offset: start)
        }
        offset += 2
        let second = try hexadecimalUnit()
        guard UTF16.isTrailSurrogate(second) else { throw StrictJSONError(reason: .json, offset: start) }
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private mutating func hexadecimalUnit() throws(StrictJSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard offset < bytes.count, let digit = Character(Unicode.Scalar(bytes[offset])).hexDigitValue else {
                throw UTF8Sequence.unexpected(in: bytes, at: offset)
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}
