import AppStoreModel
import LedgerSchema
import StrictJSON

/// Which column every field of a shape fills: one place for the rule, so that names cannot drift apart.
///
/// A column is the field's name in snake_case. Money and percentages say their unit. The fields of an object inside
/// stand in the same row behind the object's prefix, unless they begin with it anyway.
final class ColumnMap: Sendable {
    final class Entry: Sendable {
        let field: Field
        /// The column a scalar fills; empty for objects, lists and signed payloads.
        let column: String
        /// Where the column stands among ``ColumnMap/columns`` of the whole record.
        let slot: Int
        /// Of an object or of a list's elements.
        let nested: ColumnMap?

        init(field: Field, column: String = "", slot: Int = 0, nested: ColumnMap? = nil) {
            self.field = field
            self.column = column
            self.slot = slot
            self.nested = nested
        }
    }

    let entries: [Entry]
    /// The fields of ``entries``.
    let keys: KeyTable
    /// Every column of the record's own table, in its order, and every other that the record fills, objects inside included,
    /// each once; empty for such an object itself.
    let columns: [String]
    private let slotOfColumn: [String: Int]
    /// For each other table, by its name, the slot that each of its columns is filled from.
    private let slots: [String: [Int?]]
    /// Of the columns that every snapshot ends with; `nil` where the record has no table of its own.
    let snapshotSlots: (signedDate: Int, payloadSHA256: Int, payload: Int)?
    /// The table whose rows are the record's slots as they are.
    private let table: Table?

    static let transaction = ColumnMap(.transaction, table: Tables.transactions)
    static let renewalInfo = ColumnMap(.renewalInfo, table: Tables.renewals)
    static let notification = ColumnMap(.notification, table: Tables.notifications)
    /// An app transaction has no table: what it says stands beside its notification.
    static let appTransaction = ColumnMap(.appTransaction, prefix: "app_transaction_")
    static let sendAttempt = ColumnMap(.sendAttempt)

    convenience init(_ shape: ObjectShape, prefix: String = "", table: Table? = nil) {
        var columns = table?.columns.map(\.name) ?? []
        let entries = Self.entries(shape, prefix: prefix, &columns)
        self.init(entries, columns: columns, table: table)
    }

    private init(_ entries: [Entry], columns: [String], table: Table? = nil) {
        self.entries = entries
        self.columns = columns
        self.table = columns.count == table?.columns.count ? table : nil
        keys = KeyTable(entries.map(\.field.key))
        let slotOfColumn = Dictionary(uniqueKeysWithValues: zip(columns, columns.indices))
        self.slotOfColumn = slotOfColumn
        if let signedDate = slotOfColumn["signed_date"], let hash = slotOfColumn["payload_sha256"],
            let payload = slotOfColumn["payload"]
        {
            snapshotSlots = (signedDate, hash, payload)
        } else {
            snapshotSlots = nil
        }
        slots = Dictionary(
            uniqueKeysWithValues: (columns.isEmpty ? [] : Tables.all).map { table in
                (table.name, table.columns.map { slotOfColumn[$0.name] })
            }
        )
    }

    /// Adds the columns of the shape to those that the record has until now.
    private static func entries(_ shape: ObjectShape, prefix: String, _ columns: inout [String]) -> [Entry] {
        shape.fields.map { field in
            switch field.type {
            case .object(let inner):
                let prefix = prefix + Self.prefix(of: field.key)
                let nested = ColumnMap(Self.entries(inner, prefix: prefix, &columns), columns: [])
                return Entry(field: field, nested: nested)
            case .objectArray(let inner):
                // The elements are rows of a table of their own.
                return Entry(field: field, nested: ColumnMap(inner))
            case .signed:
                return Entry(field: field)
            default:
                let column = Self.column(of: field, prefix: prefix)
                let slot = columns.firstIndex(of: column) ?? columns.endIndex
                if slot == columns.endIndex { columns.append(column) }
                return Entry(field: field, column: column, slot: slot)
            }
        }
    }

    /// The slot that a column is filled from; `nil` where no field fills it.
    func slot(of column: String) -> Int? { slotOfColumn[column] }

    /// Whether the record's slots are a row of the table.
    func isRow(of table: Table) -> Bool { self.table?.name == table.name }

    /// For each column of the table, the slot it is filled from; `nil` where no field fills it.
    func slots(of table: Table) -> [Int?] {
        slots[table.name] ?? table.columns.map { slotOfColumn[$0.name] }
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
