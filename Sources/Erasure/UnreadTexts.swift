import Ledger
import LedgerSchema
import Postgres

/// The table `unread_texts`: texts from before `quoted_ids` had their kind, whose IDs it does not have yet.
///
/// The first erasure after the upgrade reads them.
enum UnreadTexts {
    /// The number of texts that are read at once; each has up to 256 KiB.
    private static let batch = 50

    /// Reads one batch of texts, and stores their IDs in `quoted_ids`.
    ///
    /// - Returns: Whether there may be more texts.
    static func readBatch(of app: AppID, on connection: borrowing PostgresConnection) throws(PostgresError) -> Bool {
        let unread = try connection.run(
            .readUnreadTexts,
            ["app": .integer(app.rawValue), "count": .bigint(Int64(batch))]
        )
        for row in unread {
            guard let owner = QuotedIDs.Owner(rawValue: try row.text("owner_kind")) else { continue }
            let ids = IDScanner.ids(in: try row.bytesOrNil("text") ?? [])
                .union(IDScanner.ids(in: try row.bytesOrNil("detail") ?? []))
                .filter { !owner.hasOnlyTokens || $0.kind == .account }
            try QuotedIDs.store(ids, of: owner, try row.text("owner_key"), app: app, on: connection)
        }
        for row in unread {
            _ = try connection.run(
                "DELETE FROM unread_texts WHERE app_id = $1 AND owner_kind = $2 AND owner_key = $3",
                [.integer(app.rawValue), .text(try row.text("owner_kind")), .text(try row.text("owner_key"))]
            )
        }
        return !unread.isEmpty
    }
}
