import AppStoreModel
import LedgerTables
import SignedData

/// A signed payload of the job's own app, with its key, read into cells.
struct VerifiedRecord {
    let kind: RecordKind
    let payload: VerifiedPayload
    /// The record's own ID, never the text of the JWS: one payload has many valid texts.
    let key: String
    let reading: RecordReading
    private(set) var reader: RecordReader

    /// Bytes of a key: long enough for any ID, short enough for every index.
    static let keyLimit = 256

    init(kind: RecordKind, payload: VerifiedPayload, identity: AppIdentity) throws(RecordRejection) {
        try identity.require(payload.json, of: kind)
        let found = payload.json[kind.keyField]
        guard let key = found?.string, (1...Self.keyLimit).contains(key.utf8.count) else {
            throw RecordRejection(
                .missingKey,
                "\(kind.keyField) is \(ForeignText.description(of: found)); it must be 1 to \(Self.keyLimit) bytes of text."
            )
        }
        self.kind = kind
        self.payload = payload
        self.key = key
        reader = RecordReader(kind: kind)
        reading = reader.read(payload.json, by: kind.columns)
    }

    mutating func note(_ found: String, at path: FieldPath) {
        reader.note(found, at: path)
    }

    /// Reads something unsigned that came with the record; what is odd in it is noted with the record.
    mutating func read(_ object: JSONElement, by map: ColumnMap, at path: FieldPath) -> RecordReading {
        reader.read(object, by: map, at: path)
    }

    /// By the column, because the ledger compares rows with rows.
    var isRevoked: Bool {
        kind == .transaction && reading["revocation_date"] != .null
    }

    var issues: [FieldIssue] {
        reader.issues.map { issue in
            FieldIssue(
                kind: kind.rawValue,
                recordKey: key,
                path: issue.path,
                found: issue.found,
                signedDate: payload.signedDate.rawValue
            )
        }
    }

    var archived: ArchivedPayload {
        ArchivedPayload(
            kind: kind.rawValue,
            recordKey: key,
            signedDate: payload.signedDate.rawValue,
            header: payload.header,
            payload: payload.payload,
            payloadSHA256: payload.payloadSHA256,
            signature: payload.signature
        )
    }

    /// The payload for the `payload` column: as signed, unless PostgreSQL would expand a number in it.
    var payloadJSON: [UInt8] {
        payload.json.documentHoldsUnsafeNumber ? JSONWriter.bytes(payload.json.value) : payload.payload
    }

    /// The row of `table`: what was read, what every snapshot ends with, and what `other` says of columns still open.
    func snapshot(
        of table: Table,
        payloadJSON: [UInt8],
        children: [ChildRows] = [],
        other: ((String) -> Cell)? = nil
    ) -> Snapshot {
        var row = reading.row(
            of: table,
            [
                ("signed_date", .timestamp(payload.signedDate.rawValue)),
                ("payload_sha256", .bytea(payload.payloadSHA256)),
                ("payload", .jsonb(payloadJSON)),
            ]
        )
        if let other {
            for place in row.indices where row[place] == .null { row[place] = other(table.columns[place].name) }
        }
        return Snapshot(
            table: table,
            key: key,
            signedDate: payload.signedDate.rawValue,
            isRevoked: isRevoked,
            payloadSHA256: payload.payloadSHA256,
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
