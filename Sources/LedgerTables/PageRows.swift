/// Everything one page of Apple's answers adds to the ledger.
///
/// It commits whole, with the cursor, or not at all.
package struct PageRows: Sendable {
    package var snapshots: [Snapshot] = []
    package var sendAttempts: [Row] = []
    package var archive: [ArchivedPayload] = []
    package var rejected: [RejectedRecord] = []
    package var drift: [SchemaDrift] = []
    package var issues: [FieldIssue] = []
    /// Whether a transaction with a revocation, or a REFUND notification, is among the records.
    package var sawRevocation = false

    package init() {}
}

/// The state of one record at its `signedDate`.
///
/// Of several the newest wins, whatever order they arrive in. A class, because lists of them are filtered and sorted again
/// and again on the way to the ledger.
package final class Snapshot: Sendable {
    /// `transactions`, `refunds`, `renewals` or `notifications`.
    package let table: Table
    /// The one key column's value: a transaction ID, an original transaction ID or a notification UUID.
    package let key: String
    /// UNIX milliseconds.
    package let signedDate: Int64
    /// Breaks a tie of `signedDate`: a revoked snapshot comes after one that is not revoked.
    package let isRevoked: Bool
    /// SHA-256 of the payload bytes; breaks what is still a tie, and names the snapshot.
    package let payloadSHA256: [UInt8]
    /// SHA-256 of the payload without the moment at which it was signed: the same for every signature of one content.
    package let contentDigest: [UInt8]
    package let row: Row
    /// Rows that belong to this snapshot and are replaced with it, by table.
    package let children: [ChildRows]

    package init(
        table: Table,
        key: String,
        signedDate: Int64,
        isRevoked: Bool,
        payloadSHA256: [UInt8],
        contentDigest: [UInt8],
        row: Row,
        children: [ChildRows]
    ) {
        self.table = table
        self.key = key
        self.signedDate = signedDate
        self.isRevoked = isRevoked
        self.payloadSHA256 = payloadSHA256
        self.contentDigest = contentDigest
        self.row = row
        self.children = children
    }
}

/// The rows of one child table that belong to one snapshot.
package struct ChildRows: Sendable {
    package let table: Table
    package let rows: [Row]

    package init(table: Table, rows: [Row]) {
        self.table = table
        self.rows = rows
    }
}

/// One verified payload for the raw archive; enough, with its header, to verify it again.
package struct ArchivedPayload: Sendable {
    package let kind: RecordKind
    package let recordKey: String
    /// UNIX milliseconds.
    package let signedDate: Int64
    /// The first segment of the JWS exactly as it came (base64url text); the same for thousands of records.
    package let header: [UInt8]
    /// The decoded second segment.
    package let payload: [UInt8]
    package let payloadSHA256: [UInt8]
    /// The decoded third segment: 64 bytes, r and s.
    package let signature: [UInt8]

    package init(
        kind: RecordKind,
        recordKey: String,
        signedDate: Int64,
        header: [UInt8],
        payload: [UInt8],
        payloadSHA256: [UInt8],
        signature: [UInt8]
    ) {
        self.kind = kind
        self.recordKey = recordKey
        self.signedDate = signedDate
        self.header = header
        self.payload = payload
        self.payloadSHA256 = payloadSHA256
        self.signature = signature
    }
}

/// A record that could not be loaded, kept so that nothing is silently dropped.
package struct RejectedRecord: Sendable {
    /// A closed list of words, such as `signature` or `bundle`; what `status` groups by.
    package let reason: String
    /// One sentence: what was found and what would be right.
    package let detail: String
    /// What came, as it came.
    ///
    /// The ledger keeps at most 256 KiB of it.
    package let raw: [UInt8]
    package let sha256: [UInt8]
    /// SHA-256 of the record that the text claims to be, which is the same however often it is signed; of the whole text
    /// where the text does not say.
    package let identity: [UInt8]

    /// - Parameters:
    ///   - reason: See ``reason``.
    ///   - detail: See ``detail``.
    ///   - raw: See ``raw``.
    ///   - sha256: Of `raw`.
    ///   - identity: `nil` where the text does not say which record it is.
    package init(reason: String, detail: String, raw: [UInt8], sha256: [UInt8], identity: [UInt8]? = nil) {
        self.reason = reason
        self.detail = detail
        self.raw = raw
        self.sha256 = sha256
        self.identity = identity ?? sha256
    }
}

/// A field or an enumeration value Apple sends that StoreLedger has no column or no name for.
package struct SchemaDrift: Hashable, Sendable {
    package let kind: RecordKind
    /// `field` for an unknown field, `field=value` for an unknown value of a known one; dots go into objects, `[]` into arrays.
    package let path: String
    /// The value as JSON text, at most 200 characters, with everything that looks like a UUID masked.
    package let sample: String

    package init(kind: RecordKind, path: String, sample: String) {
        self.kind = kind
        self.path = path
        self.sample = sample
    }
}

/// A known field of an unexpected type or range.
///
/// Its column is NULL; the row is loaded.
package struct FieldIssue: Hashable, Sendable {
    package let kind: RecordKind
    package let recordKey: String
    /// Dots go into objects, `[n]` into arrays.
    package let path: String
    /// One sentence: what was found and what would be right.
    package let found: String
    /// UNIX milliseconds; of the snapshot that had it.
    package let signedDate: Int64?

    package init(kind: RecordKind, recordKey: String, path: String, found: String, signedDate: Int64? = nil) {
        self.kind = kind
        self.recordKey = recordKey
        self.path = path
        self.found = found
        self.signedDate = signedDate
    }
}
