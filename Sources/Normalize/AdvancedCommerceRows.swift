import LedgerSchema
import Postgres

/// The line items of one transaction or renewal, and their refunds.
///
/// A table without rows is included too, because a snapshot replaces all rows of the previous one.
struct AdvancedCommerceRows {
    private let ownerKind: String
    private let ownerKey: String
    private let currency: Cell
    private let items: [RecordReading.Element]

    init(ownerKind: RecordKind, ownerKey: String, reading: RecordReading) {
        self.ownerKind = ownerKind.ownerKind ?? ownerKind.rawValue
        self.ownerKey = ownerKey
        currency = reading["currency"]
        items = reading.lists["items"] ?? []
    }

    private static let none = [
        ChildRows(table: Tables.advancedCommerceItems, rows: []),
        ChildRows(table: Tables.advancedCommerceRefunds, rows: []),
    ]

    var children: [ChildRows] {
        guard !items.isEmpty else { return Self.none }
        let refunds = items.flatMap { item in
            (item.reading.lists["refunds"] ?? []).map { refund in
                row(of: Tables.advancedCommerceRefunds, refund, item: item.position)
            }
        }
        return [
            ChildRows(
                table: Tables.advancedCommerceItems,
                rows: items.map { row(of: Tables.advancedCommerceItems, $0) }
            ),
            ChildRows(table: Tables.advancedCommerceRefunds, rows: refunds),
        ]
    }

    private func row(of table: Table, _ element: RecordReading.Element, item: Int? = nil) -> Row {
        var added: [(String, Cell)] = [
            ("owner_kind", .text(ownerKind)), ("owner_key", .text(ownerKey)),
            ("position", .integer(Int32(element.position))), ("currency", currency),
        ]
        if let item { added.append(("item_position", .integer(Int32(item)))) }
        return element.reading.row(of: table, added)
    }
}
