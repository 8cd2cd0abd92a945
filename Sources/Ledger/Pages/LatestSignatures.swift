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
struct RowChangedMeanwhile: Error {
    /// How often a batch may find that another worker has changed one of its rows meanwhile.
    ///
    /// Each time the other worker has committed, so the number of workers bounds it: at most 256 in each process.
    static let limit = 1_000
}

extension RecordWriter {
    /// Stores the newest signature of each record that is only signed again, and locks contents that may be replaced.
    ///
    /// The row of ``Staging/latestSignatures`` is the lock of a content. A transaction that stores a newer
    /// signature and one that replaces the content cannot both commit. So a snapshot never replaces a content with
    /// a newer signature.
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
        let still = try connection.run(
            MergeSQL.countUnchanged(table),
            [app],
            rows: Staging.rows(rows, of: Staging.latestSignatures),
            answer: .binary
        )
        guard try still[0].int64("records") == records.count else { throw RowChangedMeanwhile() }
    }

    /// Removes the locks of contents that were replaced without a newer signature.
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
        let name: Row = [
            .text(RecordKind.ofPayloads(in: table).rawValue), .text(snapshot.key), .bytea(record.heldSHA256),
            .timestamp(snapshot.signedDate), .bytea(snapshot.payloadSHA256),
        ]
        guard record.isSignedAgain, let payload else { return name + [.null, .null, .null] }
        let header = try headers.number(of: payload.header, app: origin.app, on: connection)
        // The signed texts inside a notification also have other bytes, so its payload cannot be made from
        // the stored one.
        let isNotification = table == Tables.notifications
        let shortened = { HeaderSplice.shorten(payload.payload, headers: [(payload.header, header)]) }
        return name + [.integer(header), .bytea(payload.signature), isNotification ? .bytea(shortened()) : .null]
    }
}

extension MergeSQL {
    /// Stores each signature that is newer than the stored one.
    ///
    /// A row without a signature only locks its content.
    ///
    /// Parameters: app, the rows as ``Staging/latestSignatures``.
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
    /// This must be a separate statement, so that it sees commits during the wait of ``keepSignatures``. Parameters:
    /// app, the rows.
    static func countUnchanged(_ table: Table) -> String {
        """
        SELECT count(*) AS records FROM \(Staging.from("$2", of: Staging.latestSignatures))
          JOIN LATERAL (SELECT FROM \(table.name) h
                         WHERE h.app_id = $1::integer AND h.\(table.key[0]) = s.record_key
                           AND h.payload_sha256 = s.first_payload_sha256 OFFSET 0) h ON true
        """
    }

    /// Parameters: app, kind, record keys.
    static let removeSignatureLocks = """
        DELETE FROM latest_signatures
         WHERE app_id = $1::integer AND kind = $2::text AND record_key = ANY ($3::text[]) AND signature IS NULL
        """
}
