import LedgerTables

/// The line items of one transaction or renewal, and the refunds of those items.
///
/// Empty tables are there too: a snapshot replaces the rows of the one before, even with none.
struct AdvancedCommerceRows {
    private let ownerKind: String
    private let ownerKey: String
    private let currency: Cell
    private let items: [RecordReading.Element]

    init(ownerKind: RecordKind, ownerKey: String, reading: RecordReading) {
        self.ownerKind = ownerKind == .transaction ? "transaction" : "renewal"
        self.ownerKey = ownerKey
        currency = reading.cells["currency"] ?? .null
        items = reading.lists["items"] ?? []
    }

    var children: [ChildRows] {
        let refunds = items.flatMap { item in
            (item.reading.lists["refunds"] ?? []).map { refund in
                row(of: Tables.advancedCommerceRefunds, refund, ["item_position": .integer(Int32(item.position))])
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

    private func row(
        of table: Table,
        _ element: RecordReading.Element,
        _ more: [String: Cell] = [:]
    ) -> Row {
        var reading = element.reading
        reading.cells["owner_kind"] = .text(ownerKind)
        reading.cells["owner_key"] = .text(ownerKey)
        reading.cells["position"] = .integer(Int32(element.position))
        reading.cells["currency"] = currency
        reading.cells.merge(more) { _, new in new }
        return reading.row(of: table)
    }
}
