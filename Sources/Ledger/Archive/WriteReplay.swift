import AppStoreModel
package import LedgerSchema
import Postgres
import Streams

extension Ledger {
    /// Writes rows from the archive or from rejected records, and marks those rejects as resolved, in one transaction.
    ///
    /// - Parameters:
    ///   - origin: Stored with the rows.
    ///   - mode: How to merge the rows.
    ///   - rejects: The record IDs of the rejected records that the rows resolve.
    /// - Throws: ``Postgres/PostgresError`` after the last attempt.
    package func write(
        _ rows: PageRows,
        from origin: RowOrigin,
        mode: MergeMode = .replayed,
        resolving rejects: [Int64] = []
    ) async throws -> RowCounts {
        let writer = RecordWriter(origin: origin, headers: headers, mode: mode)
        var conflicts = 0
        while true {
            do {
                return try await write(rows, with: writer, resolving: rejects)
            } catch is RowChangedMeanwhile where conflicts < RowChangedMeanwhile.limit {
                conflicts += 1
            }
        }
    }

    private func write(
        _ rows: PageRows,
        with writer: RecordWriter,
        resolving rejects: [Int64]
    ) async throws -> RowCounts {
        try await pages.withConnection { connection in
            try writer.prepareSession(for: rows, on: connection)
            // Plans are not reused, because a replay also queries tables that are nearly empty in most ledgers and may
            // grow meanwhile.
            return try connection.transaction(.readCommitted) { connection in
                let counts = try writer.store(rows, itemKey: "", on: connection) { rows, _, connection in
                    if rows.sawRevocation { try writer.markRevocation(inItemsOf: rejects, on: connection) }
                }
                for reject in rejects {
                    try writer.resolve(reject, isErased: counts.withheld > 0, on: connection)
                }
                return counts
            }
        }
    }
}

extension RecordWriter {
    /// Marks a rejected record as resolved.
    ///
    /// If its customer is erased, removes the content of the record.
    fileprivate func resolve(
        _ reject: Int64,
        isErased: Bool,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let key: [Cell] = [.integer(origin.app.rawValue), .bigint(reject)]
        // If the record is rejected again, it counts as new, even if it was dismissed before.
        _ = try connection.run(
            """
            DELETE FROM quarantined_records q USING rejected_records r
             WHERE r.app_id = $1 AND r.record_id = $2 AND q.app_id = $1
               AND (q.record_id = $2 OR (q.reason = r.reason AND q.identity = r.identity))
            """,
            key
        )
        _ = try connection.run(
            isErased
                ? "UPDATE rejected_records SET resolved_at = now(), dismissed_at = NULL, raw = '', identity = NULL, detail = 'Of an erased customer.', item_key = '' WHERE app_id = $1 AND record_id = $2"
                : "UPDATE rejected_records SET resolved_at = now(), dismissed_at = NULL WHERE app_id = $1 AND record_id = $2",
            key
        )
        if isErased { try QuotedIDs.remove(.rejected, [String(reject)], app: origin.app, on: connection) }
    }

    /// Marks the customers in whose history the rejected records came, so that a run requests their refunds.
    fileprivate func markRevocation(
        inItemsOf rejects: [Int64],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        _ = try connection.run(
            .markRevocation,
            [
                "app": .integer(origin.app.rawValue),
                "records": .textArray(rejects.map(String.init)),
                "refund_streams": .textArray(AllStreams.refundStreams.map(\.rawValue)),
            ]
        )
    }
}
