package import Postgres

/// Everything that one page of Apple's answers adds to the ledger.
///
/// All of it and the cursor commit together.
package struct PageRows: Sendable {
    package var snapshots: [Snapshot] = []
    package var sendAttempts: [Row] = []
    package var answers: [Answer] = []
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
/// The ledger keeps the newest snapshot of a record; the order in which snapshots arrive does not matter. This is a
/// class, because lists of snapshots are filtered and sorted several times before they reach the ledger.
package final class Snapshot: Sendable {
    /// One of ``Tables/snapshots``.
    package let table: Table
    /// The value of the key column: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.
    package let key: String
    /// UNIX milliseconds.
    package let signedDate: Int64
    /// Decides between equal `signedDate`s: a revoked snapshot counts as newer than one that is not revoked.
    package let isRevoked: Bool
    /// SHA-256 of the payload bytes.
    ///
    /// It decides between snapshots that are still equal, and identifies the snapshot.
    package let payloadSHA256: [UInt8]
    /// SHA-256 of the payload without its signing date.
    ///
    /// It stays the same when Apple signs the same content again.
    package let contentDigest: [UInt8]
    package let row: Row
    /// The rows that belong to this snapshot and are replaced together with it, by table.
    package let children: [ChildRows]
    /// ``Table/facts`` that this snapshot leaves out and another signature of the page has, by column.
    package let addedFacts: [String: Cell]

    package init(
        table: Table,
        key: String,
        signedDate: Int64,
        isRevoked: Bool,
        payloadSHA256: [UInt8],
        contentDigest: [UInt8],
        row: Row,
        children: [ChildRows],
        addedFacts: [String: Cell] = [:]
    ) {
        self.table = table
        self.key = key
        self.signedDate = signedDate
        self.isRevoked = isRevoked
        self.payloadSHA256 = payloadSHA256
        self.contentDigest = contentDigest
        self.row = row
        self.children = children
        self.addedFacts = addedFacts
    }

    /// This snapshot with the facts that only an older one has.
    package func adding(factsOf older: Snapshot) -> Snapshot {
        let known = facts
        let added = older.facts.filter { known[$0.key] == nil }
        guard !added.isEmpty else { return self }
        return Snapshot(
            table: table,
            key: key,
            signedDate: signedDate,
            isRevoked: isRevoked,
            payloadSHA256: payloadSHA256,
            contentDigest: contentDigest,
            row: row,
            children: children,
            addedFacts: addedFacts.merging(added) { own, _ in own }
        )
    }

    /// The known ``Table/facts``, by column.
    package var facts: [String: Cell] {
        guard !table.facts.isEmpty else { return [:] }
        let names = Set(table.facts.map(\.column))
        var facts = addedFacts
        for (column, cell) in zip(table.columns, row) where cell != .null && names.contains(column.name) {
            facts[column.name] = cell
        }
        return facts
    }

    /// The row with the added facts.
    package var completedRow: Row {
        guard !addedFacts.isEmpty else { return row }
        return zip(table.columns, row).map { column, cell in addedFacts[column.name] ?? cell }
    }
}

/// What Apple answers without signing it, such as the status of a subscription.
package struct Answer: Sendable {
    package let kind: AnswerKind
    /// A row of the kind's table.
    package let row: Row
    /// Rows of the kind's ``AnswerKind/children``, replaced together with the answer.
    package let children: [ChildRows]
    /// The ``RejectedRecord/identity`` that the answer would have if it were rejected; storing the answer resolves that reject.
    package let rejectIdentity: [UInt8]?

    /// The value of the key column.
    package var key: Cell? { cell(kind.key) }

    /// The cells of the whole key.
    package var keyCells: [Cell] {
        zip(kind.table.columns, row).filter { kind.table.key.contains($0.0.name) }.map(\.1)
    }

    /// The cell of a column of the kind's table.
    package func cell(_ column: String) -> Cell? {
        kind.table.columns.firstIndex { $0.name == column }.map { row[$0] }
    }

    /// The answer with another cell in a column of its row.
    package func with(_ cell: Cell, in column: String) -> Answer {
        let row = zip(kind.table.columns, row).map { $0.name == column ? cell : $1 }
        return Answer(kind, row: row, children: children, rejectIdentity: rejectIdentity)
    }

    /// Whether the answer, or what belongs to it, is stored in the table.
    package func has(rowsOf table: Table) -> Bool {
        kind.table == table || children.contains { $0.table == table && !$0.rows.isEmpty }
    }

    package init(_ kind: AnswerKind, row: Row, children: [ChildRows] = [], rejectIdentity: [UInt8]? = nil) {
        self.kind = kind
        self.row = row
        self.children = children
        self.rejectIdentity = rejectIdentity
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

/// One verified payload for the raw archive, with everything that verifying it again needs.
package struct ArchivedPayload: Sendable {
    package let kind: RecordKind
    package let recordKey: String
    /// UNIX milliseconds.
    package let signedDate: Int64
    /// The first segment of the JWS, unchanged (base64url text).
    ///
    /// Thousands of records have the same one.
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

/// A record that could not be loaded.
///
/// It is stored, so that no record is dropped silently.
package struct RejectedRecord: Sendable {
    /// A code of a fixed list, such as `signature` or `bundle`; `status` groups by it.
    package let reason: String
    /// One sentence: the value that was found and what is valid.
    package let detail: String
    /// The received text, unchanged.
    ///
    /// The ledger keeps at most 256 KiB of it.
    package let raw: [UInt8]
    /// SHA-256 of ``raw``; of kind and key for an answer that Apple did not sign.
    package let sha256: [UInt8]
    /// SHA-256 of the record's kind and key, or of the whole text if it has no readable key.
    ///
    /// Apple signs a record again for each answer. The text is then different, but its kind and key are the same.
    package let identity: [UInt8]

    /// - Parameter identity: `nil` when the record cannot be identified.
    package init(reason: String, detail: String, raw: [UInt8], sha256: [UInt8], identity: [UInt8]? = nil) {
        self.reason = reason
        self.detail = detail
        self.raw = raw
        self.sha256 = sha256
        self.identity = identity ?? sha256
    }
}

/// A field or an enumeration value from Apple that StoreLedger does not know.
package struct SchemaDrift: Hashable, Sendable {
    package let kind: RecordKind
    /// `field` for an unknown field, `field=value` for an unknown value of a known field; dots separate the members of nested
    /// objects, and `[]` stands for an array.
    package let path: String
    /// The value as JSON text of at most 200 characters, with UUIDs masked.
    package let sample: String

    /// What is known of the field; `nil` for one of which nothing is known.
    package static func remark(on path: String) -> String? {
        let name = path.prefix { $0 != "=" }.split(separator: ".").last.map { String($0).replacing("[]", with: "") }
        guard let name, fieldsOfStoreKit.contains(name) else { return nil }
        return "StoreKit 27 has this member. It has no column, because Apple does not document the server's name yet."
    }

    /// Members that StoreKit 27 has and the documentation of Apple's servers does not have, read 2026-11.
    ///
    /// StoreKit writes ID where the servers write Id or Identifier, so each is here under its likely names.
    private static let fieldsOfStoreKit: Set<String> = [
        "bundleProductID", "bundleProductId",
        "bundleTransactionID", "bundleTransactionId",
        "bundleOriginalTransactionID", "bundleOriginalTransactionId",
        "bundleSubscriptionGroupID", "bundleSubscriptionGroupId", "bundleSubscriptionGroupIdentifier",
        "willUnbundle", "seatPriceTiers", "revokedSeatQuantity",
    ]

    package init(kind: RecordKind, path: String, sample: String) {
        self.kind = kind
        self.path = path
        self.sample = sample
    }
}

/// A known field of an unexpected type or range, whose column is NULL, or a fact that the newest signature leaves out.
///
/// The row is loaded.
package struct FieldIssue: Hashable, Sendable {
    /// The ``found`` of a fact that the newest signature leaves out.
    package static let leftOut =
        "The newest signature leaves the field out. The column keeps the value of an earlier signature."

    package let kind: RecordKind
    package let recordKey: String
    /// Dots separate the members of nested objects; `[n]` is an array element.
    package let path: String
    /// One sentence: what was found and what would be right.
    package let found: String
    /// The signing date of the snapshot with this issue, in UNIX milliseconds.
    package let signedDate: Int64?

    package init(kind: RecordKind, recordKey: String, path: String, found: String, signedDate: Int64? = nil) {
        self.kind = kind
        self.recordKey = recordKey
        self.path = path
        self.found = found
        self.signedDate = signedDate
    }
}
