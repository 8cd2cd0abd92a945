/// A recursive descent parser over the bytes of one document, in one pass; it is used once.
struct StrictJSONScanner {
    private let bytes: [UInt8]
    private let depthLimit: Int
    /// The next byte to read.
    private var offset = 0
    private var depth = 0
    private var nodes: [JSONNode] = []
    private var holdsUnsafeNumber = false

    init(_ bytes: [UInt8], depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
        // A signed payload has about one value or name per ten bytes, a page far fewer.
        nodes.reserveCapacity(min(bytes.count / 8 + 1, 160))
    }

    consuming func document() throws(StrictJSONError) -> JSONDocument {
        guard !hasForeignEncoding else { throw failure(.encoding) }
        skipWhitespace()
        try value()
        skipWhitespace()
        guard offset == bytes.count else { throw unexpected() }
        return JSONDocument(bytes: bytes, nodes: nodes, holdsUnsafeNumber: holdsUnsafeNumber)
    }

    /// Whether there is a byte order mark, or a NUL in the first two bytes, which only UTF-16 and UTF-32 have.
    private var hasForeignEncoding: Bool {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.prefix(2).contains(0)
    }

    private mutating func value() throws(StrictJSONError) {
        guard let byte = peek else { throw failure(.json) }
        switch byte {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true", .true)
        case UInt8(ascii: "f"): try literal("false", .false)
        case UInt8(ascii: "n"): try literal("null", .null)
        default: throw unexpected()
        }
    }

    private mutating func object() throws(StrictJSONError) {
        let place = try open(.object)
        var names = DistinctNames()
        if take(UInt8(ascii: "}")) { return close(place) }
        repeat {
            skipWhitespace()
            let start = offset
            guard peek == UInt8(ascii: "\"") else { throw unexpected() }
            try string()
            guard names.insertLast(of: nodes, after: place, in: bytes) else {
                throw failure(.duplicateKey, at: start)
            }
            guard take(UInt8(ascii: ":")) else { throw unexpected() }
            skipWhitespace()
            try value()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw unexpected() }
        close(place)
    }

    private mutating func array() throws(StrictJSONError) {
        let place = try open(.array)
        if take(UInt8(ascii: "]")) { return close(place) }
        repeat {
            skipWhitespace()
            try value()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw unexpected() }
        close(place)
    }

    private mutating func open(_ kind: JSONNode.Kind) throws(StrictJSONError) -> Int {
        guard depth < depthLimit else { throw failure(.depth) }
        depth += 1
        nodes.append(JSONNode(opening: kind, at: offset))
        offset += 1
        return nodes.count - 1
    }

    private mutating func close(_ place: Int) {
        depth -= 1
        nodes[place].close(at: offset, before: nodes.count)
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONNode.Kind) throws(StrictJSONError) {
        let start = offset
        for expected in text.description.utf8 {
            guard peek == expected else { throw unexpected() }
            offset += 1
        }
        append(kind, start..<offset)
    }

    private mutating func append(_ kind: JSONNode.Kind, _ text: Range<Int>) {
        nodes.append(JSONNode(kind, text, at: nodes.count))
    }

    private mutating func string() throws(StrictJSONError) {
        let start = offset + 1
        let end = JSONStringScanner.endOfPlainText(of: bytes.span, from: start)
        guard end == bytes.count || bytes[end] != UInt8(ascii: "\"") else {
            append(.plainString, start..<end)
            offset = end + 1
            return
        }
        var string = JSONStringScanner(bytes, at: start)
        let hasEscapes = try string.skip()
        append(hasEscapes ? .escapedString : .plainString, start..<string.offset)
        offset = string.offset + 1
    }
}

extension StrictJSONScanner {
    private mutating func number() throws(StrictJSONError) {
        let start = offset
        var isInteger = true
        if peek == UInt8(ascii: "-") { offset += 1 }
        if peek == UInt8(ascii: "0") { offset += 1 } else { try digits(from: start) }
        if peek == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            try digits(from: start)
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            isInteger = false
            offset += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
            try digits(from: start)
        }
        append(.number, start..<offset)
        if !isInteger || offset - start > JSONNumber.longestSafeText {
            let number = JSONNumber(text: String(decoding: bytes[start..<offset], as: UTF8.self))
            holdsUnsafeNumber = holdsUnsafeNumber || !number.isSafeInDatabase
        }
    }

    /// Reads one or more digits, and throws as soon as the number that begins at `start` is too long.
    private mutating func digits(from start: Int) throws(StrictJSONError) {
        let first = offset
        while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            guard offset - start < StrictJSON.numberLimit else { throw failure(.json) }
            offset += 1
        }
        guard offset > first else { throw unexpected() }
    }
}

extension StrictJSONScanner {
    private var peek: UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    /// Skips white space, and then `byte` if it follows.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private func failure(_ reason: StrictJSONError.Reason, at start: Int? = nil) -> StrictJSONError {
        StrictJSONError(reason: reason, offset: start ?? offset)
    }

    private func unexpected() -> StrictJSONError {
        UTF8Sequence.unexpected(in: bytes, at: offset)
    }
}
