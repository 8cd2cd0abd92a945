import NIOCore

/// Writes the JSON object of an answer, member by member, in the order of the calls.
///
/// ``ObjectWriter`` writes the payloads; this one writes the JWS of many records into one buffer without copying them twice.
struct AnswerWriter {
    private var buffer: ByteBuffer
    private var isEmpty = true

    /// - `capacity`: The expected length of the JSON in bytes.
    init(capacity: Int) {
        buffer = ByteBuffer()
        buffer.reserveCapacity(capacity)
        buffer.writeString("{")
    }

    /// - `text`: Without characters that JSON escapes, such as a JWS, a cursor or an identifier.
    mutating func member(_ key: String, _ text: String) {
        begin(key)
        buffer.writeString("\"")
        buffer.writeString(text)
        buffer.writeString("\"")
    }

    mutating func member(_ key: String, _ number: Int64) { member(key, raw: Array(String(number).utf8)) }

    mutating func member(_ key: String, _ flag: Bool) { member(key, raw: Array((flag ? "true" : "false").utf8)) }

    /// - `raw`: JSON text, written unchanged.
    mutating func member(_ key: String, raw: [UInt8]) {
        begin(key)
        buffer.writeBytes(raw)
    }

    /// An array of texts without characters that JSON escapes.
    mutating func member(_ key: String, _ texts: [String]) {
        begin(key)
        for (index, text) in texts.enumerated() {
            buffer.writeString(index == 0 ? "[\"" : ",\"")
            buffer.writeString(text)
            buffer.writeString("\"")
        }
        buffer.writeString(texts.isEmpty ? "[]" : "]")
    }

    /// An array of objects, each with the members that `write` gives it.
    mutating func member<Elements: Sequence>(
        _ key: String,
        objects elements: Elements,
        _ write: (Elements.Element, inout AnswerWriter) -> Void
    ) {
        begin(key)
        buffer.writeString("[")
        var isFirst = true
        for element in elements {
            buffer.writeString(isFirst ? "{" : ",{")
            isFirst = false
            isEmpty = true
            write(element, &self)
            buffer.writeString("}")
        }
        isEmpty = false
        buffer.writeString("]")
    }

    /// The whole object.
    consuming func finish() -> ByteBuffer {
        buffer.writeString("}")
        return buffer
    }

    private mutating func begin(_ key: String) {
        if !isEmpty { buffer.writeString(",") }
        isEmpty = false
        buffer.writeString("\"")
        buffer.writeString(key)
        buffer.writeString("\":")
    }
}
