/// Recursive descent over the bytes of one document; a value type that is used once.
struct StrictJSONParser {
    private let bytes: [UInt8]
    private let depthLimit: Int
    /// The next byte to read.
    private var offset = 0
    private var depth = 0

    init(_ bytes: [UInt8], depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    mutating func document() throws(StrictJSONError) -> JSONValue {
        guard !hasForeignEncoding else { throw failure(.encoding) }
        skipWhitespace()
        let value = try value()
        skipWhitespace()
        guard offset == bytes.count else { throw unexpected() }
        return value
    }

    /// A byte order mark, or a NUL among the first two bytes, as only UTF-16 and UTF-32 have it.
    private var hasForeignEncoding: Bool {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.prefix(2).contains(0)
    }

    private mutating func value() throws(StrictJSONError) -> JSONValue {
        guard let byte = peek else { throw failure(.json) }
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw unexpected()
        }
    }

    private mutating func object() throws(StrictJSONError) -> JSONObject {
        try descend()
        var members: [JSONObject.Member] = []
        var names = DistinctNames()
        if take(UInt8(ascii: "}")) { return ascend(JSONObject()) }
        repeat {
            skipWhitespace()
            let start = offset
            guard peek == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try string()
            guard names.insert(name, after: members) else { throw failure(.duplicateKey, at: start) }
            guard take(UInt8(ascii: ":")) else { throw unexpected() }
            skipWhitespace()
            members.append(JSONObject.Member(key: name, value: try value()))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw unexpected() }
        return ascend(JSONObject(members))
    }

    private mutating func array() throws(StrictJSONError) -> [JSONValue] {
        try descend()
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return ascend(elements) }
        repeat {
            skipWhitespace()
            elements.append(try value())
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw unexpected() }
        return ascend(elements)
    }

    private mutating func descend() throws(StrictJSONError) {
        guard depth < depthLimit else { throw failure(.depth) }
        depth += 1
        offset += 1
    }

    private mutating func ascend<Value>(_ value: Value) -> Value {
        depth -= 1
        return value
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(StrictJSONError) -> JSONValue {
        for expected in text.description.utf8 {
            guard peek == expected else { throw unexpected() }
            offset += 1
        }
        return value
    }
}

extension StrictJSONParser {
    private mutating func number() throws(StrictJSONError) -> JSONNumber {
        let start = offset
        if peek == UInt8(ascii: "-") { offset += 1 }
        if peek == UInt8(ascii: "0") { offset += 1 } else { try digits(from: start) }
        if peek == UInt8(ascii: ".") {
            offset += 1
            try digits(from: start)
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            offset += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
            try digits(from: start)
        }
        return JSONNumber(text: String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    /// One digit or more, giving up as soon as the number that began at `start` is too long.
    private mutating func digits(from start: Int) throws(StrictJSONError) {
        let first = offset
        while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            guard offset - start < StrictJSON.numberLimit else { throw failure(.json) }
            offset += 1
        }
        guard offset > first else { throw unexpected() }
    }
}

extension StrictJSONParser {
    /// Most strings have no escape: they are one slice of the document.
    private mutating func string() throws(StrictJSONError) -> String {
        offset += 1
        let start = offset
        try skipUnescaped()
        if bytes[offset] == UInt8(ascii: "\"") {
            offset += 1
            return String(decoding: bytes[start..<offset - 1], as: UTF8.self)
        }
        var text = Array(bytes[start..<offset])
        while bytes[offset] == UInt8(ascii: "\\") {
            try escape(into: &text)
            let next = offset
            try skipUnescaped()
            text.append(contentsOf: bytes[next..<offset])
        }
        offset += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Moves to the closing quote or the next backslash; one of them is there when this returns.
    private mutating func skipUnescaped() throws(StrictJSONError) {
        var next = offset
        while next < bytes.count {
            let byte = bytes[next]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                offset = next
                return
            }
            if byte < 0x20 { throw failure(byte == 0 ? .nul : .json, at: next) }
            if byte < 0x80 {
                next += 1
            } else {
                next += try sequenceLength(at: next)
            }
        }
        throw failure(.json, at: next)
    }

    private mutating func escape(into text: inout [UInt8]) throws(StrictJSONError) {
        let start = offset
        offset += 1
        guard let byte = peek else { throw failure(.json) }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar(from: start)).utf8)
        default: throw failure(.json, at: start)
        }
    }

    /// The scalar of `\uXXXX` or of a surrogate pair; half a pair is no text.
    private mutating func escapedScalar(from start: Int) throws(StrictJSONError) -> Unicode.Scalar {
        let unit = try hexadecimalUnit()
        guard unit != 0 else { throw failure(.nul, at: start) }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), rest.starts(with: #"\u"#.utf8) else { throw failure(.json, at: start) }
        offset += 2
        let second = try hexadecimalUnit()
        guard UTF16.isTrailSurrogate(second) else { throw failure(.json, at: start) }
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private mutating func hexadecimalUnit() throws(StrictJSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else { throw unexpected() }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    /// Bytes of the well-formed UTF-8 sequence that begins at `start` with a byte above 0x7F.
    ///
    /// Source: The Unicode Standard, table 3-7, Well-Formed UTF-8 Byte Sequences.
    private func sequenceLength(at start: Int) throws(StrictJSONError) -> Int {
        let (second, length): (ClosedRange<UInt8>, Int) =
            switch bytes[start] {
            case 0xC2...0xDF: (0x80...0xBF, 2)
            case 0xE0: (0xA0...0xBF, 3)
            case 0xE1...0xEC, 0xEE...0xEF: (0x80...0xBF, 3)
            case 0xED: (0x80...0x9F, 3)
            case 0xF0: (0x90...0xBF, 4)
            case 0xF1...0xF3: (0x80...0xBF, 4)
            case 0xF4: (0x80...0x8F, 4)
            default: throw failure(.encoding, at: start)
            }
        guard start + length <= bytes.count, second ~= bytes[start + 1],
            bytes[start + 2..<start + length].allSatisfy({ 0x80...0xBF ~= $0 })
        else { throw failure(.encoding, at: start) }
        return length
    }
}

extension StrictJSONParser {
    private var peek: UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    private var rest: ArraySlice<UInt8> {
        bytes[offset...]
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    /// Steps over white space and then over `byte`, if it is there.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private func failure(_ reason: StrictJSONError.Reason, at place: Int? = nil) -> StrictJSONError {
        StrictJSONError(reason: reason, offset: place ?? offset)
    }

    /// The byte at `offset`, or the end, does not belong there; broken UTF-8 is named as what it is.
    private func unexpected() -> StrictJSONError {
        guard let byte = peek, byte >= 0x80 else { return failure(.json) }
        do throws(StrictJSONError) {
            _ = try sequenceLength(at: offset)
            return failure(.json)
        } catch {
            return error
        }
    }
}
