package import AppStoreModel
import JobPlan
package import LedgerTables
import Postgres

/// A payload from the raw archive, ready to be verified again.
package struct StoredPayload: Sendable {
    /// `nil` for a kind that this version of StoreLedger does not know.
    package let kind: RecordKind?
    package let recordKey: String
    package let header: [UInt8]
    package let payload: [UInt8]
    package let signature: [UInt8]
    /// Whether refund history returned it.
    package let isRefund: Bool
}

/// Payloads that follow each other in the raw archive.
package struct ArchiveBatch: Sendable {
    package let payloads: [StoredPayload]
    /// Where the next batch begins; `nil` at the end of the archive.
    package let end: ArchivePlace?
}

/// Behind one payload of the raw archive, in the order of its key.
package struct ArchivePlace: Sendable {
    fileprivate let key: [Cell]

    fileprivate static let begin = ArchivePlace(key: [.text(""), .text(""), .timestamp(0), .bytea([])])
}

/// A record that was rejected, with what came.
package struct StoredReject: Sendable {
    package let recordID: Int64
    package let stream: StreamName
    package let itemKey: String
    package let reason: String
    package let raw: [UInt8]
}

extension Ledger {
    /// The next payloads of the archive in the order of its key; none at the end.
    ///
    /// - Parameters:
    ///   - app: Whose archive.
    ///   - place: Where the batch before ended, `nil` for the first.
    ///   - count: At most so many.
    /// - Returns: The batch, its nested headers back in place.
    /// - Throws: ``LedgerError/invariant(_:)`` when a header is missing; ``Postgres/PostgresError``.
    package func archive(of app: AppID, after place: ArchivePlace?, atMost count: Int) async throws -> ArchiveBatch {
        try await transaction { connection in
            let rows = try connection.run(
                """
                SELECT kind, record_key, header_id, payload, signature, is_refund, signed_date, payload_sha256
                  FROM signed_payloads
                 WHERE app_id = $1 AND (kind, record_key, signed_date, payload_sha256) > ($2, $3, $4, $5)
                 ORDER BY kind, record_key, signed_date, payload_sha256 LIMIT $6::bigint
                """,
                [.integer(app.rawValue)] + (place ?? .begin).key + [.bigint(Int64(count))],
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
                        .text(try row.text("kind")), .text(try row.text("record_key")),
                        .timestamp(try row.timestamp("signed_date")), .bytea(try row.bytes("payload_sha256")),
                    ]
                )
            }
            return ArchiveBatch(payloads: payloads, end: end)
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
                        stream: StreamName(try row.text("stream")),
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
    ///
    /// - Parameters:
    ///   - rows: Of one batch.
    ///   - origin: What is filed with them.
    ///   - rewritesHeldSnapshots: Also replaces a row by another reading of the very snapshot it shows.
    ///   - isArchived: The archive holds every payload already: it is where they come from.
    ///   - rejects: Numbers of the rejected records that the rows resolve.
    /// - Returns: What changed.
    /// - Throws: ``Postgres/PostgresError`` after the last attempt.
    package func write(
        _ rows: PageRows,
        from origin: RowOrigin,
        rewritesHeldSnapshots: Bool = true,
        isArchived: Bool = false,
        resolving rejects: [Int64] = []
    ) async throws -> RowCounts {
        var writer = RecordWriter(
            origin: origin,
            headers: headers,
            rewritesHeldSnapshots: rewritesHeldSnapshots,
            isArchived: isArchived
        )
        var attempt = 1
        while true {
            do {
                return try await write(rows, with: writer, resolving: rejects)
            } catch SQLState.uniqueViolation where !writer.isContested {
                writer.isContested = true
            } catch is RowChangedMeanwhile where attempt < Self.attempts {
                attempt += 1
            }
        }
    }

    private func write(
        _ rows: PageRows,
        with writer: RecordWriter,
        resolving rejects: [Int64]
    ) async throws -> RowCounts {
        try await persistently { connection in
            try writer.prepareSession(for: rows, on: connection)
            // No plan is kept: a replay also looks in tables that are all but empty in most ledgers and may grow under it.
            return try connection.transaction(.readCommitted) { connection in
                let admission = try writer.filterErased(rows, on: connection)
                var counts = try writer.write(admission.rows, itemKey: "", on: connection)
                counts.withheld = admission.withheld
                try writer.forgetRecognised(admission, on: connection)
                if admission.rows.sawRevocation { try writer.markRevocation(inItemsOf: rejects, on: connection) }
                for reject in rejects {
                    // What an erased customer's record says must not stay in its reject either.
                    _ = try connection.run(
                        admission.withheld > 0
                            ? "UPDATE rejected_records SET resolved_at = now(), raw = '', detail = 'Of an erased customer.', item_key = '' WHERE app_id = $1 AND record_id = $2"
                            : "UPDATE rejected_records SET resolved_at = now() WHERE app_id = $1 AND record_id = $2",
                        [.integer(writer.origin.app.rawValue), .bigint(reject)]
                    )
                    // Should it be rejected again one day, that is news.
                    _ = try connection.run(
                        "DELETE FROM quarantined_records WHERE app_id = $1 AND record_id = $2",
                        [.integer(writer.origin.app.rawValue), .bigint(reject)]
                    )
                    guard admission.withheld > 0 else { continue }
                    try QuotedIDs.remove(.rejected, [String(reject)], app: writer.origin.app, on: connection)
                }
                return counts
            }
        }
    }
}

extension RecordWriter {
    /// Marks the customers in whose crawl the rejected records came, so that a run requests their refunds.
    fileprivate func markRevocation(
        inItemsOf rejects: [Int64],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        _ = try connection.run(
            """
            UPDATE crawl_items i SET saw_revocation = true, refunds_due = (i.stream <> ALL ($3::text[]))
              FROM rejected_records r
             WHERE r.app_id = $1 AND r.record_id = ANY ($2::text[]::bigint[])
               AND i.app_id IN (SELECT a.app_id FROM apps own JOIN apps a USING (bundle_id) WHERE own.app_id = $1)
               AND i.job = r.job AND i.stream = r.stream AND i.item_key = r.item_key
            """,
            [
                .integer(origin.app.rawValue), .textArray(rejects.map(String.init)),
                .textArray(AllStreams.bringingRefunds.map(\.rawValue)),
            ]
        )
    }
}
