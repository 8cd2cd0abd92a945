/// Writes one JSON object, member by member, in the order of the calls.
///
/// A `nil` value is left out.
struct ObjectWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    mutating func member(_ key: String, _ value: String?) {
        guard let value else { return }
        begin(key)
        Self.append(value, to: &bytes)
    }

    mutating func member(_ key: String, _ value: Int64?) {
        guard let value else { return }
        member(key, raw: Array(String(value).utf8))
    }

    mutating func member(_ key: String, _ value: Bool?) {
        guard let value else { return }
        member(key, raw: Array((value ? "true" : "false").utf8))
    }

    mutating func member(_ key: String, _ values: [String]?) {
        guard let values else { return }
        begin(key)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            Self.append(value, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func member(_ key: String, objects: [[UInt8]]?) {
        guard let objects else { return }
        member(key, raw: [UInt8(ascii: "[")] + objects.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")])
    }

    /// - `raw`: JSON text, written unchanged.
    mutating func member(_ key: String, raw: [UInt8]?) {
        guard let raw else { return }
        begin(key)
        bytes += raw
    }

    consuming func finished() -> [UInt8] {
        bytes + [UInt8(ascii: "}")]
    }

    private mutating func begin(_ key: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        Self.append(key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// The bytes of a JSON object whose members `fill` writes.
func jsonObject(_ fill: (inout ObjectWriter) -> Void) -> [UInt8] {
    var writer = ObjectWriter()
    fill(&writer)
    return writer.finished()
}
