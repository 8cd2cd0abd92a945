import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON

/// Maps each field of a shape to its column.
///
/// This is the only place that derives column names.
///
/// A column is the field's name in snake_case. Columns of money and percentages end in their unit. The fields of a
/// nested object are in the same row, with the object's prefix unless they already begin with it.
final class ColumnMap: Sendable {
    final class Entry: Sendable {
        let field: Field
        /// The column of a scalar; empty for objects, lists and signed payloads.
        let column: String
        /// The index of the column in ``ColumnMap/columns`` of the whole record.
        let slot: Int
        /// The map of an object or of a list's elements.
        let nested: ColumnMap?

        init(field: Field, column: String = "", slot: Int = 0, nested: ColumnMap? = nil) {
            self.field = field
            self.column = column
            self.slot = slot
            self.nested = nested
        }
    }

    let entries: [Entry]
    /// The keys of the fields in ``entries``.
    let keys: KeyTable
    /// All columns of the record, each once: first the columns of the record's table in order, then others, including
    /// columns of nested objects.
    ///
    /// Empty for the map of a nested object.
    let columns: [String]
    private let slotOfColumn: [String: Int]
    /// For each table, by name: the slots that fill its columns.
    private let slots: [String: [Int?]]
    /// The slots of the columns at the end of every snapshot; `nil` for a record without its own table.
    let snapshotSlots: (signedDate: Int, payloadSHA256: Int, payload: Int)?
    /// The record's own table, if its columns are exactly ``columns``.
    private let table: Table?

    static let transaction = ColumnMap(.transaction, table: Tables.transactions)
    static let renewalInfo = ColumnMap(.renewalInfo, table: Tables.renewals)
    static let notification = ColumnMap(.notification, table: Tables.notifications)
    static let appTransaction = ColumnMap(.appTransaction, table: Tables.appTransactions)
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

    /// Adds the columns of the shape to the record's columns.
    private static func entries(_ shape: ObjectShape, prefix: String, _ columns: inout [String]) -> [Entry] {
        shape.fields.map { field in
            switch field.type {
            case .object(let inner):
                let prefix = prefix + Self.prefix(of: field.key)
                let nested = ColumnMap(Self.entries(inner, prefix: prefix, &columns), columns: [])
                return Entry(field: field, nested: nested)
            case .objectArray(let inner):
                // The elements are rows of a separate table.
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

    /// The slot that fills a column; `nil` if no field fills it.
    func slot(of column: String) -> Int? { slotOfColumn[column] }

    /// Whether the record's cells, unchanged, are a row of the table.
    func isRow(of table: Table) -> Bool { self.table?.name == table.name }

    /// The slots that fill the table's columns, in their order; `nil` for a column that no field fills.
    func slots(of table: Table) -> [Int?] {
        slots[table.name] ?? table.columns.map { slotOfColumn[$0.name] }
    }

    private static let specialPrefixes = [
        "advancedCommerceInfo": "advanced_commerce_",
        "appData": "",
        "commitmentInfo": "commitment_",
        "data": "",
        "descriptors": "",
        "externalPurchaseToken": "external_purchase_",
        "multiSeatInfo": "",
        "priceIncreaseInfo": "price_increase_",
        "unclaimInfo": "",
    ]

    private static func prefix(of objectKey: String) -> String {
        specialPrefixes[objectKey] ?? snakeCase(objectKey) + "_"
    }

    /// At any depth these fields identify the app of the whole row, so their columns have no prefix.
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

    /// Converts `appAppleId` to `app_apple_id`, `notificationUUID` to `notification_uuid`,
    /// `dependentSKUs` to `dependent_skus`.
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
    /// The column type of a scalar; `nil` for objects, lists of objects and signed payloads.
    var columnType: ColumnType? {
        switch self {
        case .text, .openText, .currency, .storefront: .text
        case .integer32, .openInteger, .percentage, .count: .integer
        case .integer64, .money: .bigint
        case .boolean: .boolean
        case .moment: .timestamptz
        case .uuid: .uuid
        case .textArray: .textArray
        case .object, .objectArray, .signed: nil
        }
    }
}
