import AppStoreModel
import LedgerTables

/// Which column every field of a shape fills: one place for the rule, so that names cannot drift apart.
///
/// A column is the field's name in snake_case. Money and percentages say their unit. The fields of an object inside
/// stand in the same row behind the object's prefix, unless they begin with it anyway.
struct ColumnMap: Sendable {
    struct Entry: Sendable {
        let field: Field
        /// The column a scalar fills; empty for objects, lists and signed payloads.
        let column: String
        /// Of an object or of a list's elements.
        let nested: ColumnMap?
    }

    let entries: [Entry]
    private let shape: ObjectShape
    private let indexByKey: [String: Int]

    static let transaction = ColumnMap(.transaction)
    static let renewalInfo = ColumnMap(.renewalInfo)
    static let notification = ColumnMap(.notification)
    /// An app transaction has no table: what it says stands beside its notification.
    static let appTransaction = ColumnMap(.appTransaction, prefix: "app_transaction_")
    static let sendAttempt = ColumnMap(.sendAttempt)

    init(_ shape: ObjectShape, prefix: String = "") {
        self.shape = shape
        entries = shape.fields.map { field in
            switch field.type {
            case .object(let inner):
                let nested = ColumnMap(inner, prefix: prefix + Self.prefix(of: field.key))
                return Entry(field: field, column: "", nested: nested)
            case .objectArray(let inner):
                // The elements are rows of a table of their own.
                return Entry(field: field, column: "", nested: ColumnMap(inner))
            case .signed:
                return Entry(field: field, column: "", nested: nil)
            default:
                return Entry(field: field, column: Self.column(of: field, prefix: prefix), nested: nil)
            }
        }
        indexByKey = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.field.key, $0) })
    }

    /// The documented field with this key, compared as bytes.
    subscript(key: String) -> Entry? {
        shape[key].flatMap { indexByKey[$0.key] }.map { entries[$0] }
    }

    private static let ownPrefixes = [
        "advancedCommerceInfo": "advanced_commerce_",
        "appData": "",
        "commitmentInfo": "commitment_",
        "data": "",
        "descriptors": "",
        "externalPurchaseToken": "external_purchase_",
        "priceIncreaseInfo": "price_increase_",
    ]

    private static func prefix(of objectKey: String) -> String {
        ownPrefixes[objectKey] ?? snakeCase(objectKey) + "_"
    }

    /// They say which app the whole row is about, wherever they stand.
    private static let identityKeys: Set<String> = ["bundleId", "appAppleId", "environment"]

    private static func column(of field: Field, prefix: String) -> String {
        let name = snakeCase(field.key) + unit(of: field.type)
        return identityKeys.contains(field.key) || name.hasPrefix(prefix) ? name : prefix + name
    }

    private static func unit(of type: FieldType) -> String {
        switch type {
        case .money, .percentage: "_milliunits"
        default: ""
        }
    }

    /// `appAppleId` is `app_apple_id`, `notificationUUID` is `notification_uuid`, `dependentSKUs` is `dependent_skus`.
    private static func snakeCase(_ key: String) -> String {
        var name = ""
        var previousIsUppercase = true
        for character in key {
            if character.isUppercase, !previousIsUppercase { name += "_" }
            name += character.lowercased()
            previousIsUppercase = character.isUppercase
        }
        return name
    }
}

extension FieldType {
    /// The type of the column a scalar fills; `nil` for objects, lists of them and signed payloads.
    var columnType: ColumnType? {
        switch self {
        case .text, .openText, .currency, .storefront: .text
        case .integer32, .openInteger, .percentage: .integer
        case .integer64, .money: .bigint
        case .boolean: .boolean
        case .moment: .timestamptz
        case .uuid: .uuid
        case .textArray: .textArray
        case .object, .objectArray, .signed: nil
        }
    }
}
