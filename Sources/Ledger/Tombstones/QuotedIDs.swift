import Hashing
package import LedgerSchema
package import Postgres
import StrictJSON

/// The table `quoted_ids`: possible customer IDs in texts that have no other link to a customer.
///
/// The transaction that stores such a text also stores a hash of each ID in it, so that an erasure looks up hashes
/// instead of reading every text. The kind of an ID is not stored, because all kinds look the same in a text.
/// Collisions of the 64-bit hash are so rare that an erasure does not check the text again.
package enum QuotedIDs {
    /// The kind of the row with the text; the raw values are stored.
    package enum Owner: String, Sendable {
        /// A row of `rejected_records`, by its `record_id`.
        case rejected
        /// A notification without a transaction ID, by its UUID: it is not about a purchase, or its record was invalid.
        case notification
        /// An app transaction, by its ID: it has no transaction ID, so the listed ID that Apple answered it for is stored.
        case appTransaction
        /// An order, by its ID: the transactions of every answer are stored, even if the answer itself was rejected or a
        /// later one called the order invalid.
        case order
        /// A transaction or refund, by its transaction ID: only account tokens are stored, those that other signatures of it
        /// have and its row does not.
        case transaction
        /// A renewal info, by its original transaction ID: only account tokens are stored, as for a transaction.
        case renewalInfo

        /// Whether only account tokens are stored.
        package var hasOnlyTokens: Bool { self == .transaction || self == .renewalInfo }
    }

    /// The first eight bytes of the SHA-256 of the ID's text.
    private static func hash(of id: CustomerID) -> Int64 {
        let bytes = SHA256.digest(of: Array(id.text.utf8)).prefix(8)
        return Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Stores the IDs of a text, in the transaction that stores the text; existing IDs are kept.
    ///
    /// - Parameters:
    ///   - ids: The IDs that ``IDScanner`` finds in the text.
    ///   - owner: The kind of the row with the text.
    ///   - key: The key of that row, as ``Owner`` says.
    ///   - connection: Inside the transaction.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    package static func store(
        _ ids: Set<CustomerID>,
        of owner: Owner,
        _ key: String,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !ids.isEmpty else { return }
        _ = try connection.run(
            .storeQuotedIDs,
            [
                "app": .integer(app.rawValue),
                "owner_kind": .text(owner.rawValue),
                "owner_key": .text(key),
                "hashes": hashes(of: ids),
            ]
        )
    }

    /// Stores the IDs of the notifications in a batch that have no transaction ID.
    static func store(_ rows: PageRows, app: AppID, on connection: borrowing PostgresConnection) throws(PostgresError) {
        let unnamed = Set(
            rows.snapshots.filter { $0.table == Tables.notifications && $0.transactionID == nil }
                .map { ExactText($0.key) }
        )
        guard !unnamed.isEmpty else { return }
        for payload in rows.archive.sorted(by: { $0.recordKey < $1.recordKey })
        where payload.kind == .notification && unnamed.contains(ExactText(payload.recordKey)) {
            let ids = IDScanner.ids(in: payload.payload)
            try store(ids, of: .notification, payload.recordKey, app: app, on: connection)
        }
    }

    /// Stores the listed ID for which Apple answered the app transactions of a batch.
    static func store(
        listedID: String,
        ofAppTransactionsIn rows: PageRows,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        for snapshot in rows.snapshots where snapshot.table == Tables.appTransactions {
            try store([.transaction(listedID)], of: .appTransaction, snapshot.key, app: app, on: connection)
        }
    }

    /// Stores the IDs of the records that Apple answered for an order, rejected ones included.
    static func store(
        _ rows: PageRows,
        ofOrder order: String,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        var ids: Set<CustomerID> = []
        for snapshot in rows.snapshots where snapshot.table == Tables.transactions {
            ids.insert(.transaction(snapshot.key))
            if let id = CustomerID(.appTransaction, snapshot.cell("app_transaction_id")) { ids.insert(id) }
        }
        for rejected in rows.rejected { ids.formUnion(IDScanner.ids(in: rejected.raw)) }
        try store(ids, of: .order, order, app: app, on: connection)
    }

    /// Stores the account tokens of snapshots that are archived and did not become a row.
    ///
    /// The token of a row that is replaced is stored by the trigger `keep_former_token`.
    static func store(
        tokensOf snapshots: [Snapshot],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        for snapshot in snapshots.sorted(by: { $0.key < $1.key }) where !snapshot.isFamilyMembers {
            guard let owner = RecordKind(of: snapshot.table).flatMap({ Owner(rawValue: $0.rawValue) }),
                owner.hasOnlyTokens, let token = CustomerID(.account, snapshot.cell("app_account_token"))
            else { continue }
            try store([token], of: owner, snapshot.key, app: app, on: connection)
        }
    }

    /// The account tokens of some records in signatures other than the signatures of their rows.
    package static func formerTokens(
        of owner: Owner,
        _ keys: [String],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Set<CustomerID> {
        let rows = try connection.run(
            .formerTokens,
            [
                "app": .integer(app.rawValue),
                "kind": .text(owner.rawValue),
                "keys": .textArray(keys),
            ]
        )
        var tokens: Set<CustomerID> = []
        for row in rows {
            tokens.formUnion(IDScanner.ids(in: try row.bytes("payload")).filter { $0.kind == .account })
        }
        return tokens
    }

    /// The keys of the rows of one kind whose texts contain one of the IDs.
    package static func keys(
        of owner: Owner,
        quoting ids: Set<CustomerID>,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [String] {
        guard !ids.isEmpty else { return [] }
        let found = try connection.run(
            """
            SELECT DISTINCT q.owner_key FROM unnest($3::text[]::bigint[]) AS w (hash), LATERAL (
                SELECT q.owner_kind, q.owner_key FROM quoted_ids q WHERE q.app_id = $1::integer AND q.id_hash = w.hash OFFSET 0) q
             WHERE q.owner_kind = $2::text
            """,
            [.integer(app.rawValue), .text(owner.rawValue), hashes(of: ids)]
        )
        var keys: [String] = []
        for row in found { keys.append(try row.text("owner_key")) }
        return keys
    }

    /// Removes the IDs of texts that the same transaction removes; also from `unread_texts`.
    package static func remove(
        _ owner: Owner,
        _ keys: [String],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !keys.isEmpty else { return }
        for table in ["quoted_ids", "unread_texts"] {
            // These tables can be small, and a plan made for a small table must not be reused.
            _ = try connection.runOnce(
                KeyedRows.delete(from: table, by: "owner_key", "x.owner_kind = $3"),
                [.integer(app.rawValue), .textArray(keys), .text(owner.rawValue)]
            )
        }
    }

    private static func hashes(of ids: Set<CustomerID>) -> Cell {
        .textArray(Set(ids.map(hash)).sorted().map(String.init))
    }
}

extension Snapshot {
    /// Whether the record is a family member's, whose token can be the payer's.
    fileprivate var isFamilyMembers: Bool {
        [.text("FAMILY_SHARED"), .text("ASSIGNED")].contains(cell("in_app_ownership_type"))
            && cell("app_transaction_id") != .null
    }

    /// The transaction ID of a notification; `nil` if it has none.
    fileprivate var transactionID: String? {
        guard case .text(let id) = cell("transaction_id") else { return nil }
        return id
    }

    /// The cell of a column; NULL if the table has no such column.
    func cell(_ name: String) -> Cell {
        table.columns.firstIndex { $0.name == name }.map { row[$0] } ?? .null
    }
}
