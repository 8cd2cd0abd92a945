package import AppStoreModel
package import Ledger
package import LedgerSchema
import Postgres

/// A batch of received notifications that became records.
package struct NormalizedBatch: Sendable, Equatable {
    /// How many notifications it had; 0 if none was due.
    package var notifications = 0
    /// How many records of them were rejected.
    package var rejected = 0
}

extension Ledger {
    /// Writes the records of the oldest received notifications, and marks these as normalised in the same transaction.
    ///
    /// Several receivers share the work: each skips the notifications that another one has taken.
    ///
    /// - Parameters:
    ///   - origin: Stored with the records.
    ///   - most: The most notifications of the batch.
    ///   - skipped: Keys of notifications to skip.
    ///   - records: Verifies and normalises signed texts; called with the texts of the batch and with the latest moment at which
    ///     one of them was signed, perhaps more than once.
    /// - Throws: ``Postgres/PostgresError`` after the last attempt; nothing is then written.
    package func normalizeReceived(
        from origin: RowOrigin,
        atMost most: Int,
        skipping skipped: [String] = [],
        records: @escaping @Sendable ([String], UnixMilliseconds) -> PageRows
    ) async throws -> NormalizedBatch {
        let writer = RecordWriter(origin: origin, headers: headers)
        var conflicts = 0
        while true {
            do {
                return try await pages.withConnection { connection in
                    try Staging.prepareForRecords(on: connection)
                    while true {
                        do {
                            return try connection.transaction(.readCommitted) { connection in
                                let batch = try ClaimedNotifications(origin.app, most, skipped, on: connection)
                                return try batch.normalize(with: writer, records: records, on: connection)
                            }
                        } catch let new as NewHeaders {
                            // Numbers of headers are cached, so they are committed before a transaction needs them.
                            for header in new.headers {
                                _ = try headers.number(of: header, app: origin.app, on: connection)
                            }
                        }
                    }
                }
            } catch is RowChangedMeanwhile where conflicts < RowChangedMeanwhile.limit {
                conflicts += 1
            }
        }
    }

    /// The oldest notifications that are not normalised, for a message about one that cannot be stored.
    package func pendingNotifications(of app: AppID, atMost most: Int, skipping skipped: [String]) async throws
        -> [String]
    {
        try await transaction { connection in
            try ClaimedNotifications(app, most, skipped, on: connection).keys
        }
    }
}

/// A header of the batch has no number yet.
private struct NewHeaders: Error {
    let headers: [[UInt8]]
}

/// Notifications that are locked until the transaction ends.
private struct ClaimedNotifications {
    private let app: AppID
    let keys: [String]
    /// The keys and texts of version 2.
    private let signed: [(key: String, text: String, signedAt: Int64)]
    /// What is known of notifications of version 1: no more than which customer to request.
    private let unsigned: [(key: String, transaction: String?, text: String, receivedAt: Int64)]

    init(
        _ app: AppID,
        _ most: Int,
        _ skipped: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let rows = try connection.run(
            .claimReceived,
            ["app": .integer(app.rawValue), "skipped": .textArray(skipped), "most": .bigint(Int64(most))]
        )
        var keys: [String] = []
        var signed: [(key: String, text: String, signedAt: Int64)] = []
        var unsigned: [(key: String, transaction: String?, text: String, receivedAt: Int64)] = []
        for row in rows {
            let key = try row.text("notification_uuid")
            keys.append(key)
            if try row.int64("version") == 1 {
                let transaction = try row.textOrNil("original_transaction_id")
                let text = try row.textOrNil("body") ?? ""
                unsigned.append((key, transaction, text, try row.timestamp("received_at")))
            } else {
                signed.append((key, try row.text("body"), try row.timestamp("signed_date")))
            }
        }
        self.app = app
        self.keys = keys
        self.signed = signed
        self.unsigned = unsigned
    }

    func normalize(
        with writer: RecordWriter,
        records: ([String], UnixMilliseconds) -> PageRows,
        on connection: borrowing PostgresConnection
    ) throws -> NormalizedBatch {
        guard !keys.isEmpty else { return NormalizedBatch() }
        var batch = NormalizedBatch(notifications: keys.count)
        var erased: Set<String> = []
        if let last = signed.map(\.signedAt).max() {
            let rows = records(signed.map(\.text), UnixMilliseconds(rawValue: last))
            let new = Set(rows.archive.map(\.header)).filter { !writer.headers.knows($0, app: app) }
            guard new.isEmpty else { throw NewHeaders(headers: Array(new)) }
            batch.rejected = rows.rejected.count
            erased = Set(rows.notificationKeys)
            _ = try writer.store(rows, itemKey: "", on: connection) { kept, _, _ in
                erased.subtract(kept.notificationKeys)
            }
        }
        erased.formUnion(try markChangedCustomers(on: connection))
        _ = try connection.run(
            .settleReceived,
            [
                "erased": .textArray(erased.sorted()),
                "keys": .textArray(keys),
                "app": .integer(app.rawValue),
            ]
        )
        return batch
    }

    /// Marks the customers of notifications of version 1, so that jobs with `changedSince` request them.
    ///
    /// - Returns: The notifications of erased customers.
    private func markChangedCustomers(on connection: borrowing PostgresConnection) throws -> [String] {
        guard !unsigned.isEmpty else { return [] }
        let tombstones = try Tombstones.blockingErasures(of: app, on: connection)
        let ids = unsigned.map { row in
            // Its text is kept.
            IDScanner.ids(in: Array(row.text.utf8)).union(row.transaction.map { [.transaction($0)] } ?? [])
        }
        let erased = try tombstones?.erased(among: ids.reduce(into: []) { $0.formUnion($1) }, on: connection) ?? []
        let isErased = ids.map { !erased.isDisjoint(with: $0) }
        _ = try connection.copyIn(
            "changed_customers",
            columns: ["transaction_id", "signed_date"],
            rows: zip(unsigned, isErased).compactMap { row, isErased in
                isErased ? nil : row.transaction.map { [.text($0), .timestamp(row.receivedAt)] }
            },
            constants: [("app_id", .integer(app.rawValue))]
        )
        return zip(unsigned, isErased).filter(\.1).map(\.0.key)
    }
}

extension PageRows {
    /// The UUIDs of the notifications among the records.
    fileprivate var notificationKeys: [String] {
        snapshots.filter { $0.table == Tables.notifications }.map(\.key)
    }
}
