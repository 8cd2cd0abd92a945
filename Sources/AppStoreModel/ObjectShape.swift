import StrictJSON

/// The fields that Apple documents for one JSON object.
///
/// Shapes are data, so that the same code reads every object. Every field is optional, and an object can contain fields
/// that are not listed. Source: App Store Server API and App Store Server Notifications, read 2026-11.
package struct ObjectShape: Sendable {
    /// Apple's name of the object.
    package let name: String
    package let fields: [Field]
    private let indexByKey: [String: Int]

    package init(_ name: String, _ fields: [Field]) {
        self.name = name
        self.fields = fields
        indexByKey = Dictionary(uniqueKeysWithValues: fields.enumerated().map { ($1.key, $0) })
    }

    /// The field with this JSON key, compared as bytes; `nil` for an undocumented field.
    package subscript(key: String) -> Field? {
        guard let index = indexByKey[key], fields[index].key.isByteEqual(to: key) else { return nil }
        return fields[index]
    }
}

/// One documented field.
package struct Field: Sendable {
    /// Apple's name of the member.
    package let key: String
    package let type: FieldType

    package init(_ key: String, _ type: FieldType) {
        self.key = key
        self.type = type
    }
}

/// The documented type of a field.
package enum FieldType: Sendable {
    case text
    /// Text of an open set: other values than the known ones can occur.
    case openText(Set<String>)
    case integer32
    case integer64
    /// How many there are of something, such as seats or periods.
    case count
    /// An `Int32` of an open set, with Apple's meaning of each known value.
    case openInteger([Int32: String])
    /// Thousandths of a unit of the currency.
    case money
    /// Thousandths of a percent.
    case percentage
    case boolean
    /// ``UnixMilliseconds``.
    case moment
    case uuid
    case textArray
    /// Three upper-case letters of ISO 4217.
    case currency
    /// Three upper-case letters of ISO 3166-1.
    case storefront
    indirect case object(ObjectShape)
    indirect case objectArray(ObjectShape)
    /// A JWS whose payload has the shape.
    indirect case signed(ObjectShape)
}
