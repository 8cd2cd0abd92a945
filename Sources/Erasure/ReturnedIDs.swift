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

/// A column with IDs of one kind.
private struct IDColumn {
    let table: String
    let name: String
    let kind: CustomerID.Kind

    static let all: [IDColumn] = {
        let transaction = [
            ("transactions", "transaction_id"), ("transactions", "original_transaction_id"),
            ("transactions", "previous_original_transaction_id"), ("transactions", "listed_transaction_id"),
            ("refunds", "transaction_id"), ("refunds", "original_transaction_id"),
            ("renewals", "original_transaction_id"), ("notifications", "transaction_id"),
            ("notifications", "original_transaction_id"),
        ]
        let customers = AnswerKind.all.flatMap(\.customers)
        let answers = customers.filter { $0.keys == .transactions }.map { ($0.table.name, $0.name) }
        let members = customers.filter { $0.keys == .appTransactions }.map(\.table.name)
        let orders = AnswerKind.all.filter(\.isKeyedByOrder)
            .flatMap { kind in ([kind.table] + kind.children).map { ($0.name, kind.key) } }
        let items = [("crawl_items", "item_key"), ("coverage_gaps", "item_key"), ("rejected_records", "item_key")]
        let records = ["transactions", "refunds", "renewals", "notifications"]
        return (transaction + items + answers).map { IDColumn(table: $0.0, name: $0.1, kind: .transaction) }
            + (items + orders).map { IDColumn(table: $0.0, name: $0.1, kind: .order) }
            + (records + ["app_transactions"] + members).map {
                IDColumn(table: $0, name: "app_transaction_id", kind: .appTransaction)
            }
            + records.map { IDColumn(table: $0, name: "app_account_token", kind: .account) }
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
