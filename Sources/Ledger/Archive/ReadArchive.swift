package import AppStoreModel
package import LedgerSchema
import Postgres

/// A payload from the raw archive, complete enough to verify again.
package struct StoredPayload: Sendable {
    /// `nil` for a kind that this version of StoreLedger does not know.
    package let kind: RecordKind?
    package let recordKey: String
    package let header: [UInt8]
    package let payload: [UInt8]
    package let signature: [UInt8]
    /// Whether it came from refund history.
    package let isRefund: Bool
}

/// Consecutive payloads of the raw archive.
package struct ArchiveBatch: Sendable {
    package let payloads: [StoredPayload]
    /// The start of the next batch; `nil` at the end of the archive.
    package let end: ArchivePlace?
}

/// The position after one payload of the raw archive, in the order of its key.
package struct ArchivePlace: Sendable {
    fileprivate let key: KeyValuePairs<String, Cell>

    fileprivate static let begin = ArchivePlace(
        key: ["kind": .text(""), "record_key": .text(""), "signed_date": .timestamp(0), "digest": .bytea([])]
    )
}

/// A rejected record, with the text that was received.
package struct StoredReject: Sendable {
    package let recordID: Int64
    package let stream: StreamName
    package let itemKey: String
    package let reason: String
    package let raw: [UInt8]
    /// Whether an operator has dismissed it; it is then not counted if it fails again.
    package let isDismissed: Bool
}

extension Ledger {
    /// The next payloads of the archive, in the order of its key; none at the end.
    ///
    /// - Parameters:
    ///   - place: The end of the previous batch; `nil` for the first batch.
    ///   - count: The most payloads to return.
    /// - Returns: The batch, with nested headers restored.
    /// - Throws: ``LedgerError/invariant(_:)`` if a header is missing; ``Postgres/PostgresError``.
    package func archive(of app: AppID, after place: ArchivePlace?, atMost count: Int) async throws -> ArchiveBatch {
        try await transaction { connection in
            let rows = try connection.run(
                .readArchive,
                (place ?? .begin).key,
                ["app": .integer(app.rawValue), "count": .bigint(Int64(count))],
                answer: .binary
            )
            var payloads: [StoredPayload] = []
            payloads.reserveCapacity(rows.count)
            for row in rows {
                let kind = try row.text("kind")
                let key = try row.text("record_key")
                let header = try headers.text(of: try row.int32("header_id"), app: app, on: connection)
                let payload = try HeaderSplice.expand(try row.bytes("payload")) { number in
                    try headers.text(of: number, app: app, on: connection)
                }
                guard let header, let payload else {
                    throw LedgerError.invariant("the archive lacks a header of \(kind) \(key)")
                }
                payloads.append(
                    StoredPayload(
                        kind: RecordKind(rawValue: kind),
                        recordKey: key,
                        header: header,
                        payload: payload,
                        signature: try row.bytes("signature"),
                        isRefund: try row.bool("is_refund")
                    )
                )
            }
            let end = try rows.last.map { row in
                ArchivePlace(
                    key: [
                        "kind": .text(try row.text("kind")),
                        "record_key": .text(try row.text("record_key")),
                        "signed_date": .timestamp(try row.timestamp("signed_date")),
                        "digest": .bytea(try row.bytes("payload_sha256")),
                    ]
                )
            }
            return ArchiveBatch(payloads: payloads, end: end)
        }
    }

    /// Unresolved rejected records, oldest first.
    package func unresolvedRejects(of app: AppID, after recordID: Int64, atMost count: Int) async throws
        -> [StoredReject]
    {
        try await transaction { connection in
            let rows = try connection.run(
                """
                SELECT record_id, stream, item_key, reason, raw, dismissed_at IS NOT NULL AS dismissed FROM rejected_records
                 WHERE app_id = $1 AND record_id > $2 AND resolved_at IS NULL ORDER BY record_id LIMIT $3::bigint
                """,
                [.integer(app.rawValue), .bigint(recordID), .bigint(Int64(count))]
            )
            var rejects: [StoredReject] = []
            for row in rows {
                rejects.append(
                    StoredReject(
                        recordID: try row.int64("record_id"),
                        stream: StreamName(try row.text("stream")),
                        itemKey: try row.text("item_key"),
                        reason: try row.text("reason"),
                        raw: try row.bytes("raw"),
                        isDismissed: try row.bool("dismissed")
                    )
                )
            }
            return rejects
        }
    }
}
