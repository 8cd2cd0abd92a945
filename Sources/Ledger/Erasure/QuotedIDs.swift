import AppStoreModel
import LedgerSchema
import Postgres
import SignedData
import StrictJSON

/// The table `quoted_ids`: possible customer IDs in texts that have no other link to a customer.
///
/// The transaction that stores such a text also stores a hash of each ID in it, so that an erasure looks up hashes
/// instead of reading every text. The kind of an ID is not stored, because all kinds look the same in a text.
/// Collisions of the 64-bit hash are so rare that an erasure does not check the text again.
enum QuotedIDs {
    /// The kind of the row with the text; the raw values are stored.
    enum Owner: String {
        /// A row of `rejected_records`, by its `record_id`.
        case rejected
        /// A notification without a transaction ID, by its UUID: it is not about a purchase, or its record was invalid.
        case notification
    }

    /// The number of texts older than the table that are read at once; each has up to 256 KiB.
    private static let batch = 50

    /// The first eight bytes of the SHA-256 of the ID's text.
    static func hash(of id: CustomerID) -> Int64 {
        let bytes = SHA256.digest(of: Array(id.text.utf8)).prefix(8)
        return Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Stores the IDs of a text, in the transaction that stores the text; existing IDs are kept.
    static func store(
        _ ids: Set<CustomerID>,
        of owner: Owner,
        _ key: String,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !ids.isEmpty else { return }
        _ = try connection.run(
            """
            INSERT INTO quoted_ids (app_id, owner_kind, owner_key, id_hash)
            SELECT $1::integer, $2::text, $3::text, w.hash FROM unnest($4::text[]::bigint[]) AS w (hash)
             WHERE NOT EXISTS (SELECT FROM quoted_ids q
                                WHERE q.app_id = $1 AND q.owner_kind = $2 AND q.owner_key = $3 AND q.id_hash = w.hash)
            ON CONFLICT DO NOTHING
            """,
            [.integer(app.rawValue), .text(owner.rawValue), .text(key), hashes(of: ids)]
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
            let ids = IDTraces.ids(in: payload.payload)
            try store(ids, of: .notification, payload.recordKey, app: app, on: connection)
        }
    }

    /// The keys of an owner's texts that contain one of the IDs.
    static func keys(
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

    /// Removes the IDs of texts that the same transaction removes.
    static func remove(
        _ owner: Owner,
        _ keys: [String],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !keys.isEmpty else { return }
        for table in ["quoted_ids", "unread_texts"] {
            _ = try connection.run(
                KeyedRows.delete(from: table, by: "owner_key", "x.owner_kind = $3"),
                [.integer(app.rawValue), .textArray(keys), .text(owner.rawValue)]
            )
        }
    }

    /// Reads a few texts that are older than the table, and stores their IDs.
    ///
    /// - Returns: Whether there may be more.
    static func readMore(of app: AppID, on connection: borrowing PostgresConnection) throws(PostgresError) -> Bool {
        let unread = try connection.run(
            """
            SELECT u.owner_kind, u.owner_key, convert_to(r.detail, 'UTF8') AS detail, coalesce(r.raw, p.payload) AS text
              FROM (SELECT owner_kind, owner_key FROM unread_texts WHERE app_id = $1::integer
                     ORDER BY owner_kind, owner_key LIMIT $2::bigint) u
              LEFT JOIN rejected_records r
                ON r.app_id = $1 AND r.record_id = CASE WHEN u.owner_kind = 'rejected' THEN u.owner_key::bigint END
              LEFT JOIN signed_payloads p ON p.app_id = $1 AND p.kind = u.owner_kind AND p.record_key = u.owner_key
            """,
            [.integer(app.rawValue), .bigint(Int64(batch))]
        )
        for row in unread {
            guard let owner = Owner(rawValue: try row.text("owner_kind")) else { continue }
            let ids = IDTraces.ids(in: try row.bytesOrNil("text") ?? [])
                .union(IDTraces.ids(in: try row.bytesOrNil("detail") ?? []))
            try store(ids, of: owner, try row.text("owner_key"), app: app, on: connection)
        }
        for row in unread {
            _ = try connection.run(
                "DELETE FROM unread_texts WHERE app_id = $1 AND owner_kind = $2 AND owner_key = $3",
                [.integer(app.rawValue), .text(try row.text("owner_kind")), .text(try row.text("owner_key"))]
            )
        }
        return !unread.isEmpty
    }

    private static func hashes(of ids: Set<CustomerID>) -> Cell {
        .textArray(Set(ids.map(hash)).sorted().map(String.init))
    }
}

extension Snapshot {
    /// The transaction ID of a notification; `nil` if it has none.
    fileprivate var transactionID: String? {
        guard let place = table.columns.firstIndex(where: { $0.name == "transaction_id" }),
            case .text(let id) = row[place]
        else { return nil }
        return id
    }
}
