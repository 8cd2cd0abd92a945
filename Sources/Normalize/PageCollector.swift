import AppStoreModel
import LedgerSchema
import Postgres
import SignedData
import StrictJSON

/// Collects the rows of one page, and keeps only the newest of several snapshots of a record.
///
/// Apple sends a record twice on one page if it changes while Apple creates the page.
struct PageCollector {
    private struct RowID: Hashable {
        let table: String
        let key: ExactText

        /// Hashing the key is enough, because few records are in two tables.
        func hash(into hasher: inout Hasher) {
            hasher.combine(key)
        }
    }

    private struct PayloadHash: Hashable {
        let bytes: [UInt8]

        /// Hashing a prefix is enough, because the bytes are already a hash.
        func hash(into hasher: inout Hasher) {
            hasher.combine(bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
    }

    private struct Kept {
        let snapshot: Snapshot
        let issues: [FieldIssue]
        /// The signed text of a notification that can contradict another one; `nil` for all other records.
        let contradictable: JWSParts?
    }

    /// The most drift entries of one page; more would add no information.
    private static let driftLimit = 1_000

    private var kept: [Kept] = []
    private var indexes: [RowID: Int] = [:]
    private var archivedHashes: Set<PayloadHash> = []
    private var attempts: Set<[Cell]> = []
    private var collected = PageRows()
    /// See ``VerifiedPage/isOneResponse``.
    private let isOneResponse: Bool

    init(of page: VerifiedPage) {
        isOneResponse = page.isOneResponse
        collected.rejected = page.rejected
        let count = page.entries.count
        kept.reserveCapacity(count)
        indexes.reserveCapacity(count)
        archivedHashes.reserveCapacity(count)
        collected.archive.reserveCapacity(count)
    }

    var rows: PageRows {
        var rows = collected
        rows.snapshots = kept.map(\.snapshot)
        rows.issues = kept.flatMap(\.issues)
        return rows
    }

    mutating func add(_ snapshot: Snapshot, of record: MappedRecord, issues: [FieldIssue]) {
        let canContradict = isOneResponse && record.kind == .notification
        let new = Kept(snapshot: snapshot, issues: issues, contradictable: canContradict ? record.payload.parts : nil)
        let rowID = RowID(table: snapshot.table.name, key: ExactText(snapshot.key))
        guard let index = indexes[rowID] else {
            indexes[rowID] = kept.count
            kept.append(new)
            return
        }
        let old = kept[index]
        guard old.snapshot.payloadSHA256 != snapshot.payloadSHA256 else { return }
        let isNewer = snapshot.isNewer(than: old.snapshot)
        let (newer, discarded) = isNewer ? (new, old) : (old, new)
        // A fact is about something that cannot change about a purchase, such as its price. If the newer snapshot leaves it
        // out, the older one's value stays.
        kept[index] = Kept(
            snapshot: newer.snapshot.adding(factsOf: discarded.snapshot),
            issues: newer.issues,
            contradictable: newer.contradictable
        )
        if let parts = discarded.contradictable, snapshot.signedDate == old.snapshot.signedDate,
            snapshot.contentDigest != old.snapshot.contentDigest
        {
            let detail = "Another notification has notificationUUID \(snapshot.key) and the same signedDate."
            let rejection = RecordRejection(.conflict, detail)
            collected.rejected.append(RejectedRecord(rejection, raw: parts.text, as: .notification))
        }
    }

    /// Keeps the signed payload once.
    mutating func archive(_ record: MappedRecord) {
        if archivedHashes.insert(PayloadHash(bytes: record.payload.payloadSHA256)).inserted {
            collected.archive.append(record.verified.archived)
        }
        if record.isRevoked { collected.sawRevocation = true }
        if record.payload.rootDiffers { noteForeignRoot(of: record.kind) }
    }

    /// Keeps the unknown fields and values of a record; the ledger counts them.
    mutating func noteDrift(of record: MappedRecord) {
        collected.drift += record.reader.drift.prefix(Self.driftLimit - collected.drift.count)
    }

    /// Reports a record that contains another root than the trusted one, because Apple may be about to change its root.
    ///
    /// The record is loaded: Apple's libraries ignore the root in a record, too.
    private mutating func noteForeignRoot(of kind: RecordKind) {
        guard collected.drift.count < Self.driftLimit else { return }
        collected.drift.append(
            SchemaDrift(kind: kind, path: "header.x5c[2]", sample: #""not the root that is trusted""#)
        )
    }

    mutating func noteRevocation() {
        collected.sawRevocation = true
    }

    /// Keeps what Apple answered without signing it; of equal keys, the last one of a page wins.
    mutating func add(_ answer: Answer) {
        collected.answers.removeAll { $0.kind == answer.kind && $0.keyCells == answer.keyCells }
        collected.answers.append(answer)
    }

    /// `key` is the part of the row that identifies the attempt.
    mutating func addSendAttempt(_ row: Row, key: [Cell]) {
        if attempts.insert(key).inserted { collected.sendAttempts.append(row) }
    }
}

extension Snapshot {
    /// The order used everywhere in StoreLedger: first signedDate, then revoked, then the payload's hash.
    func isNewer(than other: Snapshot) -> Bool {
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        if isRevoked != other.isRevoked { return isRevoked }
        return other.payloadSHA256.lexicographicallyPrecedes(payloadSHA256)
    }
}
