package import Ledger
package import LedgerSchema
import Postgres

extension Ledger {
    /// IDs of erased customers that are in the ledger again, for example after restoring an older backup.
    ///
    /// Reads every record of the app once, and the texts that can contain IDs. Crawls can store pages at the same time,
    /// because each page is checked against the tombstones too.
    ///
    /// - Throws: ``Postgres/PostgresError``, ``LockTimeout`` when an erasure holds the lock for too long.
    package func returnedErasedIDs(in app: AppID) async throws -> Set<CustomerID> {
        try await transaction { connection in
            try connection.script(Self.defaultPlanner)
            guard let tombstones = try Tombstones.blockingErasures(of: app, on: connection) else { return [] }
            var ids: Set<CustomerID> = []
            for column in IDColumn.all {
                let rows = try connection.run(
                    column.erasedIDsQuery,
                    [.integer(app.rawValue), .bytea(tombstones.key.inner), .bytea(tombstones.key.outer)]
                )
                for row in rows {
                    if let id = column.id(try row.text("id")) { ids.insert(id) }
                }
            }
            for statement in Self.nextTexts {
                var last: Cell = .text("")
                while let batch = try Self.ids(in: statement, after: last, app: app, on: connection) {
                    last = batch.last
                    ids.formUnion(try tombstones.erased(among: batch.ids, on: connection))
                }
            }
            return ids
        }
    }

    /// Each statement returns the next rows with texts that can contain IDs, in the order of `key`.
    ///
    /// The texts are in the columns `text` and `detail`.
    private static let nextTexts: [SQLStatement] = [
        .textsOfRejects,
        .textsOfNotifications,
    ]

    /// The IDs in the next texts.
    ///
    /// - Parameters:
    ///   - statement: One of ``nextTexts``.
    ///   - last: The last key of the texts before; empty text at first.
    ///   - connection: Inside a transaction.
    /// - Returns: The IDs and the last key; `nil` if there are no more texts.
    /// - Throws: ``Postgres/PostgresError``.
    private static func ids(
        in statement: SQLStatement,
        after last: Cell,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> (ids: Set<CustomerID>, last: Cell)? {
        let rows = try connection.run(statement, ["app": .integer(app.rawValue), "after": last])
        guard let end = rows.last else { return nil }
        var ids: Set<CustomerID> = []
        for row in rows {
            ids.formUnion(IDScanner.ids(in: try row.bytesOrNil("text") ?? []))
            ids.formUnion(IDScanner.ids(in: try row.bytesOrNil("detail") ?? []))
        }
        return (ids, .text(try end.text("key")))
    }
}

/// A column with IDs of one kind, or an expression over columns.
private struct IDColumn: Hashable {
    let table: String
    let name: String
    let kind: CustomerID.Kind

    /// The columns by which an erasure finds rows, and those with the other IDs that a customer's records share.
    static let all: [IDColumn] = {
        let transaction = [
            ("transactions", "original_transaction_id"), ("transactions", "previous_original_transaction_id"),
            ("transactions", "listed_transaction_id"), ("refunds", "original_transaction_id"),
            ("notifications", "transaction_id"), ("notifications", "original_transaction_id"),
        ]
        let answers = AnswerKind.all.flatMap(\.customers).filter { $0.keys == .transactions }
        let records = ["transactions", "refunds", "renewals", "notifications"]
        let columns =
            (CustomerRows.records + CustomerRows.others).flatMap { table, rows in
                rows.idColumns.map { IDColumn(table: table, name: $0.name, kind: $0.kind) }
            } + transaction.map { IDColumn(table: $0.0, name: $0.1, kind: .transaction) }
            + answers.map { IDColumn(table: $0.table.name, name: $0.name, kind: .transaction) }
            + records.map { IDColumn(table: $0, name: "app_transaction_id", kind: .appTransaction) }
            + records.map { IDColumn(table: $0, name: "app_account_token", kind: .account) }
        var seen: Set<IDColumn> = []
        return columns.filter { seen.insert($0).inserted }
    }()

    /// A query for the IDs of the column that have a tombstone.
    ///
    /// Parameters: the app, ``ErasureKey/inner`` and ``ErasureKey/outer``.
    var erasedIDsQuery: String {
        let mark = ErasureKey.sqlMark(of: "t.id", kind, inner: "$2", outer: "$3")
        return """
            SELECT t.id FROM (SELECT DISTINCT \(name)::text AS id FROM \(table) WHERE app_id = $1::integer) t
             WHERE t.id IS NOT NULL AND EXISTS (SELECT FROM erased_marks e WHERE e.app_id = $1 AND e.mark = \(mark))
            """
    }

    /// The ID in a value of the column.
    func id(_ text: String) -> CustomerID? {
        switch kind {
        case .transaction: .transaction(text)
        case .appTransaction: .appTransaction(text)
        case .account: .account(text)
        case .order: .order(text)
        }
    }
}

extension CustomerRows {
    /// The columns with IDs by which an erasure finds the rows of a table.
    ///
    /// Rows that belong to a record, such as its signatures, have no other IDs than the record.
    fileprivate var idColumns: [(name: String, kind: CustomerID.Kind)] {
        switch self {
        case .keyed(let columns):
            columns.filter { $0.kind == nil }.flatMap { column in column.keys.kinds.map { (column.name, $0) } }
        case .items, .rejectedRecords: [("item_key", .transaction), ("item_key", .order)]
        case .receivedNotifications: [("original_transaction_id", .transaction)]
        case .actionRows:
            [
                ("subject", .transaction), ("parameters ->> 'original_transaction_id'", .transaction),
                ("parameters ->> 'app_transaction_id'", .appTransaction),
            ] + Self.cells
        case .inputCells: Self.cells
        case .everyRow, .quotedIDs, .schemaDrift, .runMessages, .deleted, .kept: []
        }
    }

    private static let cells = [CustomerID.Kind.transaction, .appTransaction, .account, .order].map { kind in
        (name: "unnest(ids_in_cells(input))", kind: kind)
    }
}

extension CustomerKeys {
    fileprivate var kinds: [CustomerID.Kind] {
        switch self {
        case .transactions, .transactionsAndRefunds: [.transaction]
        case .appTransactions: [.appTransaction]
        case .orders: [.order]
        case .notifications: []
        }
    }
}
