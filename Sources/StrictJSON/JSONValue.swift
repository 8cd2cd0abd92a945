/// A JSON document.
///
/// Member order is kept, and numbers are kept as text.
///
/// Only ``StrictJSON`` makes one from bytes, so a value never has duplicate keys, U+0000,
/// lone surrogates, or more than ``StrictJSON/depthLimit`` levels.
package indirect enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// A JSON object: members in document order, every key once.
package struct JSONObject: Equatable, Sendable {
    package struct Member: Equatable, Sendable {
        package let key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    package var members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// The member's value, or `nil` if there is no such member.
    ///
    /// JSON `null` is `.null`, not `nil`.
    ///
    /// Names are compared as bytes: `S\u{212A}U` is not `SKU`.
    package subscript(key: String) -> JSONValue? {
        members.first { $0.key.isByteEqual(to: key) }?.value
    }
}

extension JSONValue {
    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var number: JSONNumber? {
        guard case .number(let value) = self else { return nil }
        return value
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var object: JSONObject? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    package var array: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }
}
