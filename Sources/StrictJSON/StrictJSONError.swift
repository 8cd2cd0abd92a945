/// Why bytes are not an acceptable JSON document, and where.
package struct StrictJSONError: Error, Equatable, Sendable {
    package enum Reason: String, CaseIterable, Sendable {
        /// A byte order mark, UTF-16, UTF-32, or bytes that are not UTF-8 (RFC 3629: no overlong forms, no surrogates).
        case encoding
        /// Two members of one object have the same name after decoding escapes.
        case duplicateKey = "dup_key"
        /// U+0000 in a string, raw or as `\u0000`; PostgreSQL cannot store it.
        case nul
        /// Other violations of RFC 8259, and numbers longer than ``StrictJSON/numberLimit``.
        case json
        /// Nested deeper than the limit.
        case depth = "json_depth"
        /// Longer than the limit.
        case size
    }

    package let reason: Reason
    /// The byte offset of the error in the document.
    package let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension StrictJSONError: CustomStringConvertible {
    package var description: String {
        let found =
            switch reason {
            case .encoding: "bytes that are not UTF-8 without a byte order mark"
            case .duplicateKey: "a member name the object already has"
            case .nul: "U+0000 in a string"
            case .json: "text RFC 8259 does not allow here"
            case .depth: "more levels of nesting than are allowed"
            case .size: "more bytes than are allowed"
            }
        return "reading JSON found \(found), at byte \(offset)"
    }
}
