import AppStoreModel
import LedgerTables
import SignedData

/// A signed payload of the job's own app, with its key, read into cells.
struct VerifiedRecord {
    let kind: RecordKind
    let payload: VerifiedPayload
    /// The record's own ID, never the text of the JWS: one payload has many valid texts.
    let key: String
    /// With the columns that every snapshot ends with.
    let reading: RecordReading
    private(set) var reader: RecordReader
    /// Of the payload; of a notification also of what is signed inside it.
    private(set) var contentDigest: [UInt8]

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
        contentDigest = ContentDigest.make(of: payload)
        reader = RecordReader(kind: kind)
        var reading = reader.read(payload.json, by: kind.columns)
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

    /// Replaces the digest by one in which each nested record counts by what it says, not by its signature.
    mutating func digestContent(with nested: [(path: (String, String), record: VerifiedRecord?)]) {
        let signed = nested.compactMap { path, record in
            record.flatMap { record in
                payload.json[path.0]?[path.1].map { (text: $0, digest: record.contentDigest) }
            }
        }
        guard !signed.isEmpty else { return }
        contentDigest = ContentDigest.make(of: payload, nested: signed)
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
                kind: kind,
                recordKey: key,
                path: issue.path,
                found: issue.found,
                signedDate: payload.signedDate.rawValue
            )
        }
    }

    var archived: ArchivedPayload {
        ArchivedPayload(
            kind: kind,
            recordKey: key,
            signedDate: payload.signedDate.rawValue,
            header: payload.header,
            payload: payload.payload,
            payloadSHA256: payload.payloadSHA256,
            signature: payload.signature
        )
    }

    /// The payload for the `payload` column: as signed, unless PostgreSQL would expand a number in it.
    private static func json(of payload: VerifiedPayload) -> [UInt8] {
        payload.json.documentHoldsUnsafeNumber ? JSONWriter.bytes(payload.json.value) : payload.payload
    }

    /// The row of `table`: what was read, and what `change` makes of it.
    func snapshot(of table: Table, children: [ChildRows] = [], change: ((inout Row) -> Void)? = nil) -> Snapshot {
        var row = reading.row(of: table)
        change?(&row)
        return Snapshot(
            table: table,
            key: key,
            signedDate: payload.signedDate.rawValue,
            isRevoked: isRevoked,
            payloadSHA256: payload.payloadSHA256,
            contentDigest: contentDigest,
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
