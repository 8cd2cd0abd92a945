package import LedgerTables
import Postgres

/// A payload from the raw archive, ready to be verified again.
package struct StoredPayload: Sendable {
    package let kind: String
    package let recordKey: String
    package let header: [UInt8]
    package let payload: [UInt8]
    package let signature: [UInt8]
    /// Whether refund history returned it.
    package let isRefund: Bool
    /// Where the next batch begins.
    fileprivate let place: [Cell]
}

/// A record that was rejected, with what came.
package struct StoredReject: Sendable {
    package let recordID: Int64
    package let stream: String
    package let itemKey: String
    package let reason: String
    package let raw: [UInt8]
}

extension Ledger {
    /// The next payloads of the archive in the order of its key; empty at the end.
    ///
    /// - Parameters:
    ///   - app: Whose archive.
    ///   - last: The last payload of the batch before, `nil` for the first.
    ///   - count: At most so many.
    /// - Returns: The batch, its nested headers back in place.
    /// - Throws: ``LedgerError/invariant(_:)`` when a header is missing; ``Postgres/PostgresError``.
    package func archive(of app: AppID, after last: StoredPayload?, atMost count: Int) async throws -> [StoredPayload] {
        let place = last?.place ?? [.text(""), .text(""), .timestamp(0), .bytea([])]
        let batch = try await transaction { connection in
            let rows = try connection.run(
                """
                SELECT p.kind, p.record_key, p.signed_date, p.payload_sha256, h.header, p.payload, p.signature, p.is_refund
                  FROM signed_payloads p JOIN signing_headers h USING (app_id, header_id)
                 WHERE p.app_id = $1 AND (p.kind, p.record_key, p.signed_date, p.payload_sha256) > ($2, $3, $4, $5)
                 ORDER BY p.kind, p.record_key, p.signed_date, p.payload_sha256 LIMIT $6::bigint
                """,
                [.integer(app.rawValue)] + place + [.bigint(Int64(count))]
            )
            var batch: [StoredPayload] = []
            for row in rows {
                let kind = try row.text("kind")
                let key = try row.text("record_key")
                batch.append(
                    StoredPayload(
                        kind: kind,
                        recordKey: key,
                        header: try row.utf8("header"),
                        payload: try row.bytes("payload"),
                        signature: try row.bytes("signature"),
                        isRefund: try row.bool("is_refund"),
                        place: [
                            .text(kind), .text(key), .timestamp(try row.timestamp("signed_date")),
                            .bytea(try row.bytes("payload_sha256")),
                        ]
                    )
                )
            }
            return batch
        }
        return try await expand(batch, app: app)
    }

    /// Puts the nested headers back into the payloads of a batch.
    private func expand(_ batch: [StoredPayload], app: AppID) async throws -> [StoredPayload] {
        guard batch.contains(where: { $0.payload.contains(0) }) else { return batch }
        let texts = try await transaction { connection in
            var texts: [Int32: [UInt8]] = [:]
            for row in try connection.run(
                "SELECT header_id, header FROM signing_headers WHERE app_id = $1",
                [.integer(app.rawValue)]
            ) {
                texts[try row.int32("header_id")] = try row.utf8("header")
            }
            return texts
        }
        return try batch.map { stored in
            guard let payload = HeaderSplice.expand(stored.payload, header: { texts[$0] }) else {
                throw LedgerError.invariant("the archive lacks a header of \(stored.kind) \(stored.recordKey)")
            }
            return StoredPayload(
                kind: stored.kind,
                recordKey: stored.recordKey,
                header: stored.header,
                payload: payload,
                signature: stored.signature,
                isRefund: stored.isRefund,
                place: stored.place
            )
        }
    }

    /// Rejected records that nothing has resolved, oldest first.
    package func unresolvedRejects(of app: AppID, after recordID: Int64, atMost count: Int) async throws
        -> [StoredReject]
    {
        try await transaction { connection in
            let rows = try connection.run(
                """
                SELECT record_id, stream, item_key, reason, raw FROM rejected_records
                 WHERE app_id = $1 AND record_id > $2 AND resolved_at IS NULL ORDER BY record_id LIMIT $3::bigint
                """,
                [.integer(app.rawValue), .bigint(recordID), .bigint(Int64(count))]
            )
            var rejects: [StoredReject] = []
            for row in rows {
                rejects.append(
                    StoredReject(
                        recordID: try row.int64("record_id"),
                        stream: try row.text("stream"),
                        itemKey: try row.text("item_key"),
                        reason: try row.text("reason"),
                        raw: try row.bytes("raw")
                    )
                )
            }
            return rejects
        }
    }

    /// Writes rows that were made again from the archive or from rejects, and marks the rejects as resolved, together.
    package func write(_ rows: PageRows, from origin: RowOrigin, resolving rejects: [Int64] = []) async throws
        -> RowCounts
    {
        let writer = RecordWriter(origin: origin, headers: headers, rewritesHeldSnapshots: true)
        return try await persistently { connection in
            try writer.prepareHeaders(of: rows, on: connection)
            return try connection.transaction { connection in
                let (admitted, withheld) = try writer.admit(rows, on: connection)
                var counts = try writer.write(admitted, itemKey: "", on: connection)
                counts.withheld = withheld
                for reject in rejects {
                    // What an erased customer's record says must not stay in its reject either.
                    _ = try connection.run(
                        withheld > 0
                            ? "UPDATE rejected_records SET resolved_at = now(), raw = '', detail = 'Of an erased customer.', item_key = '' WHERE app_id = $1 AND record_id = $2"
                            : "UPDATE rejected_records SET resolved_at = now() WHERE app_id = $1 AND record_id = $2",
                        [.integer(origin.app.rawValue), .bigint(reject)]
                    )
                }
                return counts
            }
        }
    }
}
