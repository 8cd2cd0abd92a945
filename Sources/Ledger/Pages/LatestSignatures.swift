import LedgerSchema
import Postgres

/// A snapshot of a record that the ledger already has.
struct HeldRecord {
    let snapshot: Snapshot
    /// `payload_sha256` of the ledger's row.
    let heldSHA256: [UInt8]
    /// Whether the snapshot has the content of the ledger's row, under a newer signature.
    let isSignedAgain: Bool
}

/// Another transaction replaced the content of a row while this one was running.
package struct RowChangedMeanwhile: Error {
    /// The most attempts of one batch that fail this way.
    ///
    /// Each failure means that another worker has committed, and a process has at most 256 workers.
    package static let limit = 1_000
}

extension RecordWriter {
    /// Stores the newest signature of each record that is only signed again, and locks content that may be replaced.
    ///
    /// A content's row in ``Staging/latestSignatures`` is also its lock. If one transaction stores a newer signature
    /// and another replaces the content, the second waits for the first and then sees its result. So a snapshot never
    /// replaces content that has a newer signature.
    ///
    /// - Parameters:
    ///   - records: Records of one table, each once.
    ///   - table: One of ``LedgerSchema/Tables/snapshots``.
    ///   - payloads: The signed payloads of the batch, by their SHA-256.
    ///   - connection: Inside the transaction that writes the batch.
    /// - Throws: ``RowChangedMeanwhile`` if a row no longer has the content that the triage found;
    ///   ``Postgres/PostgresError``.
    func keepSignatures(
        of records: [HeldRecord],
        in table: Table,
        payloads: [[UInt8]: ArchivedPayload],
        on connection: borrowing PostgresConnection
    ) throws {
        guard !records.isEmpty else { return }
        let app = Cell.integer(origin.app.rawValue)
        var rows: [Row] = []
        for record in records {
            rows.append(
                try signatureRow(
                    of: record,
                    in: table,
                    payload: payloads[record.snapshot.payloadSHA256],
                    on: connection
                )
            )
        }
        _ = try connection.run(MergeSQL.keepSignatures, [app], rows: Staging.rows(rows, of: Staging.latestSignatures))
        let unchanged = try connection.run(
            MergeSQL.countUnchanged(table),
            [app],
            rows: Staging.rows(rows, of: Staging.latestSignatures),
            answer: .binary
        )
        guard try unchanged[0].int64("records") == records.count else { throw RowChangedMeanwhile() }
    }

    /// Removes the lock rows of content that was replaced and has no newer signature.
    func removeSignatureLocks(
        of records: [HeldRecord],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !records.isEmpty else { return }
        _ = try connection.run(
            MergeSQL.removeSignatureLocks,
            [
                .integer(origin.app.rawValue), .text(RecordKind.ofPayloads(in: table).rawValue),
                .textArray(records.map(\.snapshot.key)),
            ]
        )
    }

    private func signatureRow(
        of record: HeldRecord,
        in table: Table,
        payload: ArchivedPayload?,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Row {
        let snapshot = record.snapshot
        let key: Row = [
            .text(RecordKind.ofPayloads(in: table).rawValue), .text(snapshot.key), .bytea(record.heldSHA256),
            .timestamp(snapshot.signedDate), .bytea(snapshot.payloadSHA256),
        ]
        guard record.isSignedAgain, let payload else { return key + [.null, .null, .null] }
        let header = try headers.number(of: payload.header, app: origin.app, on: connection)
        var newPayload = Cell.null
        if table == Tables.notifications {
            // The signed records inside a notification have new signatures too, so its new payload cannot be derived
            // from the stored one.
            newPayload = .bytea(HeaderSplice.shorten(payload.payload, headers: [(payload.header, header)]))
        }
        return key + [.integer(header), .bytea(payload.signature), newPayload]
    }
}

extension MergeSQL {
    /// Stores each signature that is newer than the stored one.
    ///
    /// A row without a signature only locks its content.
    ///
    /// SQL parameters: app, the rows as ``Staging/latestSignatures``.
    static let keepSignatures: String = {
        let key = Staging.latestSignatures.key.joined(separator: ", ")
        let names = Staging.latestSignatures.columns.map(\.name)
        let changed = names.filter { !Staging.latestSignatures.key.contains($0) }
        return """
            INSERT INTO latest_signatures AS l (app_id, \(names.joined(separator: ", ")))
            SELECT $1::integer, \(names.map { "s.\($0)" }.joined(separator: ", "))
              FROM \(Staging.from("$2", of: Staging.latestSignatures))
             ORDER BY s.kind COLLATE "C", s.record_key COLLATE "C", s.first_payload_sha256
            ON CONFLICT (app_id, \(key)) DO UPDATE SET \(changed.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
             WHERE excluded.signature IS NOT NULL AND excluded.signed_date > l.signed_date
            """
    }()

    /// The number of records that still have the content that the triage found.
    ///
    /// This must be a separate statement, so that it sees what was committed while ``keepSignatures`` waited.
    ///
    /// SQL parameters: app, the rows.
    static func countUnchanged(_ table: Table) -> String {
        """
        SELECT count(*) AS records FROM \(Staging.from("$2", of: Staging.latestSignatures))
          JOIN LATERAL (SELECT FROM \(table.name) h
                         WHERE h.app_id = $1::integer AND h.\(table.key[0]) = s.record_key
                           AND h.payload_sha256 = s.first_payload_sha256 OFFSET 0) h ON true
        """
    }

    /// Removes lock rows, which have no signature.
    ///
    /// SQL parameters: app, kind, record keys.
    static let removeSignatureLocks = """
        DELETE FROM latest_signatures
         WHERE app_id = $1::integer AND kind = $2::text AND record_key = ANY ($3::text[]) AND signature IS NULL
        """
}
