package import StrictJSON

/// One normalised value of an action's row.
package enum ActionValue: Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case texts([String])
    /// A list or an object, in the form in which it is sent.
    case json(JSONValue)

    package var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number): .number(JSONNumber(text: String(number)))
        case .boolean(let isTrue): .bool(isTrue)
        case .texts(let texts): .array(texts.map(JSONValue.string))
        case .json(let json): json
        }
    }

    /// The value of JSON that was read from a column.
    static func of(_ json: JSONValue) -> ActionValue {
        switch json {
        case .string(let text): .text(text)
        case .bool(let isTrue): .boolean(isTrue)
        default: .json(json)
        }
    }

    /// - Returns: `nil` for a value that ``json`` does not write.
    package init?(_ json: JSONValue) {
        switch json {
        case .string(let text): self = .text(text)
        case .bool(let isTrue): self = .boolean(isTrue)
        case .number(let number):
            guard let integer = number.int64 else { return nil }
            self = .integer(integer)
        case .array(let elements): self = .texts(elements.compactMap(\.string))
        case .null, .object: return nil
        }
    }
}

/// The normalised values of one row, by column, in the order of the action's columns.
package struct ActionParameters: Equatable, Sendable {
    package private(set) var values: [(column: String, value: ActionValue)]

    package init(_ values: [(column: String, value: ActionValue)] = []) {
        self.values = values
    }

    package subscript(column: String) -> ActionValue? { values.first { $0.column == column }?.value }

    package func text(_ column: String) -> String? {
        guard case .text(let text) = self[column] else { return nil }
        return text
    }

    package func integer(_ column: String) -> Int64? {
        guard case .integer(let number) = self[column] else { return nil }
        return number
    }

    package func boolean(_ column: String) -> Bool? {
        guard case .boolean(let isTrue) = self[column] else { return nil }
        return isTrue
    }

    package func texts(_ column: String) -> [String]? {
        guard case .texts(let texts) = self[column] else { return nil }
        return texts
    }

    /// The value as JSON.
    package func json(_ column: String) -> JSONElement? { self[column].map { JSONElement($0.json) } }

    /// The elements of a list of objects; empty without one.
    package func elements(_ column: String) -> [JSONValue] { self[column]?.json.array ?? [] }

    /// The name of the value that ``AppStoreAction/sendsConsistencyToken`` adds.
    package static let consistencyToken = "consistency_token"

    /// The values and one more, which is not part of the input.
    package func adding(_ column: String, _ value: ActionValue) -> ActionParameters {
        ActionParameters(values + [(column, value)])
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.values.count == right.values.count
            && zip(left.values, right.values).allSatisfy { $0.column == $1.column && $0.value == $1.value }
    }

    /// The values as a JSON object; the same values always give the same bytes.
    package var json: JSONObject {
        JSONObject(values.map { JSONObject.Member(key: $0.column, value: $0.value.json) })
    }

    /// Reads the values that ``json`` wrote, in the order of `columns`.
    package init(_ json: JSONObject, columns: [ActionColumn]) {
        values = columns.compactMap { column in
            json[column.name].flatMap(column.stored).map { (column.name, $0) }
        }
    }
}

extension JSONObject {
    /// An object of the members that have a value, in this order.
    static func of(_ members: [(String, JSONValue?)]) -> JSONObject {
        JSONObject(members.compactMap { key, value in value.map { Member(key: key, value: $0) } })
    }
}
