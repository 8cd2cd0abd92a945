import AppStoreModel
import LedgerSchema
import Postgres
import SignedData
import StrictJSON

/// A verified record and its cells.
struct MappedRecord {
    let verified: VerifiedRecord
    /// The record's cells, including the columns at the end of every snapshot.
    let reading: RecordReading
    private(set) var reader: RecordReader

    var kind: RecordKind { verified.kind }
    var key: String { verified.key }
    var payload: VerifiedPayload { verified.payload }

    init(_ record: VerifiedRecord) {
        verified = record
        let payload = record.payload
        reader = RecordReader(kind: record.kind)
        var reading = reader.read(payload.json, by: record.kind.columns)
        reading.fill(
            signedDate: .timestamp(payload.signedDate.rawValue),
            payloadSHA256: .bytea(payload.payloadSHA256),
            payload: .jsonb(Self.json(of: payload))
        )
        self.reading = reading
    }

    mutating func note(_ found: String, at path: FieldPath) {
        reader.note(found, at: path)
    }

    /// Reads unsigned data that came with the record.
    ///
    /// Its issues are recorded with the record.
    mutating func read(_ object: JSONElement, by map: ColumnMap, at path: FieldPath) -> RecordReading {
        reader.read(object, by: map, at: path)
    }

    /// Whether the column `revocation_date` has a value; the ledger compares rows, not payloads.
    var isRevoked: Bool {
        kind == .transaction && reading["revocation_date"] != .null
    }

    var issues: [FieldIssue] {
        reader.issues.map { issue in
            FieldIssue(
                kind: kind,
                recordKey: key,
                path: issue.path,
                found: issue.found,
                signedDate: payload.signedDate.rawValue
            )
        }
    }

    /// The payload for the `payload` column: the signed bytes, unless PostgreSQL would expand a number in them.
    private static func json(of payload: VerifiedPayload) -> [UInt8] {
        payload.json.documentHoldsUnsafeNumber ? JSONWriter.bytes(payload.json.value) : payload.payload
    }

    /// A row of `table` with the cells of the record, which `change` can modify.
    func snapshot(of table: Table, children: [ChildRows] = [], change: ((inout Row) -> Void)? = nil) -> Snapshot {
        var row = reading.row(of: table)
        change?(&row)
        return Snapshot(
            table: table,
            key: key,
            signedDate: payload.signedDate.rawValue,
            isRevoked: isRevoked,
            payloadSHA256: payload.payloadSHA256,
            contentDigest: verified.contentDigest,
            row: row,
            children: children
        )
    }
}

extension RecordKind {
    var columns: ColumnMap {
        switch self {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .notification: .notification
        case .appTransaction: .appTransaction
        }
    }
}
