import AppStoreModel
import Basics
import StrictJSON

/// Makes values from outside safe for a message or a sample.
///
/// The result is short, on one line, and contains no text that looks like an `appAccountToken`.
enum ForeignText {
    private static let mask = "<uuid>"

    /// The value as JSON text of at most `limit` characters.
    static func sample(of value: JSONValue, limit: Int = 200) -> String {
        shortened(masked(JSONWriter.text(value)), limit: limit)
    }

    /// The value for a message: a scalar as JSON text, an object or array as the name of its type.
    static func description(of value: JSONElement?) -> String {
        guard let value else { return "missing" }
        let isContainer = value.isObject || value.array != nil
        return isContainer ? value.kind : sample(of: value.value, limit: 60)
    }

    /// `text` with every UUID replaced.
    static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= 36, bytes.contains(UInt8(ascii: "-")) else { return text }
        var kept: [UInt8] = []
        var next = 0
        while next < bytes.count {
            // The check of the first hyphen rules out most positions.
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

    /// `text` on one line, shortened to `limit` characters; an ellipsis at the end marks an omission.
    ///
    /// Unprintable characters become U+FFFD.
    static func shortened(_ text: String, limit: Int) -> String {
        var result = String.UnicodeScalarView()
        // The limit counts scalars, because a single `Character` has no maximum length.
        for scalar in text.unicodeScalars.prefix(limit + 1) {
            result.append(scalar.isUnprintable ? "\u{FFFD}" : scalar)
        }
        return result.count > limit ? String(result.prefix(limit - 1)) + "…" : String(result)
    }
}
