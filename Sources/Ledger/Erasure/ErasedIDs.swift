import LedgerTables
import Postgres

extension Ledger {
    /// IDs of erased customers that the ledger holds all the same, as after a restore of an older backup.
    ///
    /// Reads every record of the app once; pages go on meanwhile, for they meet the same tombstones.
    package func erasedIDsStillHeld(in app: AppID) async throws -> Set<CustomerID> {
        try await transaction { connection in
            try connection.script("SET LOCAL lock_timeout = 0; \(Self.usualPlanner)")
            guard let tombstones = try Tombstones.hold(app, on: connection) else { return [] }
            var ids: Set<CustomerID> = []
            for place in IDPlace.all {
                let rows = try connection.run(
                    place.held,
                    [.integer(app.rawValue), .bytea(tombstones.key.inner), .bytea(tombstones.key.outer)]
                )
                for row in rows {
                    if let id = place.id(try row.text("id")) { ids.insert(id) }
                }
            }
            return ids
        }
    }
}

/// A column that holds IDs of one kind.
private struct IDPlace {
    let table: String
    let column: String
    let kind: CustomerID.Kind

    static let all: [IDPlace] = {
        let transaction = [
            ("transactions", "transaction_id"), ("transactions", "original_transaction_id"),
            ("transactions", "previous_original_transaction_id"), ("transactions", "listed_transaction_id"),
            ("refunds", "transaction_id"), ("refunds", "original_transaction_id"),
            ("renewals", "original_transaction_id"), ("notifications", "transaction_id"),
            ("notifications", "original_transaction_id"), ("crawl_items", "item_key"), ("coverage_gaps", "item_key"),
            ("rejected_records", "item_key"),
        ]
        let records = ["transactions", "refunds", "renewals", "notifications"]
        return transaction.map { IDPlace(table: $0.0, column: $0.1, kind: .transaction) }
            + records.map { IDPlace(table: $0, column: "app_transaction_id", kind: .appTransaction) }
            + records.map { IDPlace(table: $0, column: "app_account_token", kind: .account) }
    }()

    /// The IDs of the column that have a tombstone.
    ///
    /// Parameters: app, and the key's two forms.
    var held: String {
        let mark = ErasureKey.sqlMark(of: "t.id", kind, inner: "$2", outer: "$3")
        return """
            SELECT t.id FROM (SELECT DISTINCT \(column)::text AS id FROM \(table) WHERE app_id = $1::integer) t
             WHERE t.id IS NOT NULL AND EXISTS (SELECT FROM erased_marks e WHERE e.app_id = $1 AND e.mark = \(mark))
            """
    }

    func id(_ text: String) -> CustomerID? {
        switch kind {
        case .transaction: .transaction(text)
        case .appTransaction: .appTransaction(text)
        case .account: .account(text)
        }
    }
}
