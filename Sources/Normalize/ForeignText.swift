import AppStoreModel
import StrictJSON
import Basics

/// Makes foreign values fit for a message or a sample.
///
/// They are short, on one line, and without what looks like an `appAccountToken`.
enum ForeignText {
    private static let mask = "<uuid>"

    /// The value as JSON text of at most `limit` characters.
    static func sample(of value: JSONValue, limit: Int = 200) -> String {
        shortened(masked(JSONWriter.text(value)), limit: limit)
    }

    /// The value for a sentence: JSON text where that is short by nature, otherwise its kind.
    static func description(of value: JSONElement?) -> String {
        guard let value else { return "missing" }
        let isContainer = value.isObject || value.array != nil
        return isContainer ? value.kind : sample(of: value.value, limit: 60)
    }

    /// `text` with every UUID in it replaced.
    static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= 36, bytes.contains(UInt8(ascii: "-")) else { return text }
        var kept: [UInt8] = []
        var next = 0
        while next < bytes.count {
            // Most bytes are decided by the place of the first hyphen.
            if next + 36 <= bytes.count, bytes[next + 8] == UInt8(ascii: "-"),
                UUIDText.bytes(of: String(decoding: bytes[next..<next + 36], as: UTF8.self)) != nil
            {
                kept.append(contentsOf: mask.utf8)
                next += 36
            } else {
                kept.append(bytes[next])
                next += 1
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// `text` up to `limit` characters, the last of them telling that something is missing, on one line.
    static func shortened(_ text: String, limit: Int) -> String {
        var result = String.UnicodeScalarView()
        // The limit is one of scalars: a single `Character` can be as long as anybody likes.
        for scalar in text.unicodeScalars.prefix(limit + 1) {
            result.append(isPlain(scalar) ? scalar : "\u{FFFD}")
        }
        return result.count > limit ? String(result.prefix(limit - 1)) + "…" : String(result)
    }

    /// Control and format characters start new lines, colour a terminal or turn the reading direction.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
