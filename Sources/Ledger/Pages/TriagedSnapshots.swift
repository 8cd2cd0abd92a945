import AppStoreModel
import LedgerSchema
import StrictJSON

/// A snapshot and the ``ContentHasher/hash(of:)`` of its row.
struct HashedSnapshot {
    let snapshot: Snapshot
    let hash: Cell

    /// The cells of ``Staging/hashed(_:)``.
    var row: Row { snapshot.row + [hash] }
}

/// The snapshots of one table, sorted by what to do with them.
struct TriagedSnapshots {
    /// All snapshots.
    let snapshots: [Snapshot]
    /// Records the ledger does not have yet.
    var new: [HashedSnapshot] = []
    /// Snapshots that may replace the ledger's rows.
    var replacing: [HashedSnapshot] = []
    /// Snapshots of records that the ledger has with another payload: the same content signed again, or other content
    /// that may replace the ledger's.
    var held: [HeldRecord] = []
    /// Snapshots in a replay that the ledger already has, and that have or had rows in other tables.
    var owners: [Snapshot] = []
    /// Keys of transactions that the ledger has with this content, but without the current listed ID.
    var unlisted: [String] = []
    /// Keys of records whose content differs from the ledger's.
    var otherContent: Set<ExactText> = []
}

/// Keys of the records of one table that a batch has changed.
struct ChangedRecords {
    /// Records that were inserted because the triage did not find them; none in an attempt after a conflict.
    let new: Set<ExactText>
    /// ``new``, and the records that ``MergeSQL/newestWins(_:mode:)`` inserted.
    var inserted: Set<ExactText> = []
    /// Records whose row was replaced by a snapshot that wins.
    var updated: Set<ExactText> = []
    /// ``updated``, and records whose children and field issues a replay writes again.
    var rewritten: Set<ExactText> = []

    init(new: Set<ExactText>) {
        self.new = new
    }
}

/// The changes to the records of a batch in all tables.
struct MergedRecords {
    /// Keys of records that were new to the ledger, by kind.
    private(set) var inserted: [RecordKind: Set<ExactText>] = [:]
    /// Keys of records with a replaced snapshot, by kind.
    private(set) var replaced: [RecordKind: Set<ExactText>] = [:]
    /// Keys of records whose children and field issues were written, by kind.
    private var rewritten: [RecordKind: Set<ExactText>] = [:]
    /// Keys of records with an inserted or replaced row, by kind.
    private var written: [RecordKind: Set<ExactText>] = [:]
    /// Keys of all records of the batch, by kind of their payload.
    private var all: [RecordKind: Set<ExactText>] = [:]
    /// Keys of records whose content differs from the ledger's in some table, by kind of their payload.
    private var otherContent: [RecordKind: Set<ExactText>] = [:]

    /// Adds the result of merging `snapshots` into one table.
    mutating func note(
        _ snapshots: [Snapshot],
        of table: Table,
        _ changed: ChangedRecords,
        _ triaged: TriagedSnapshots
    ) {
        if let kind = RecordKind(of: table) {
            inserted[kind] = changed.new
            replaced[kind] = changed.rewritten
            rewritten[kind] = changed.inserted.union(changed.rewritten)
            written[kind] = changed.inserted.union(changed.updated)
        }
        let kind = RecordKind.ofPayloads(in: table)
        all[kind, default: []].formUnion(snapshots.map { ExactText($0.key) })
        otherContent[kind, default: []].formUnion(triaged.otherContent)
    }

    /// Whether every table with the record already had this content.
    ///
    /// If so, the archive has the content under its first signature.
    func isKnownContent(_ payload: ArchivedPayload) -> Bool {
        let key = ExactText(payload.recordKey)
        return all[payload.kind]?.contains(key) == true && otherContent[payload.kind]?.contains(key) != true
    }

    /// The snapshots that were new to the ledger or replaced another one.
    func written(among snapshots: [Snapshot]) -> [Snapshot] {
        snapshots.filter { snapshot in
            RecordKind(of: snapshot.table).flatMap { written[$0] }?.contains(ExactText(snapshot.key)) == true
        }
    }

    /// The snapshots with other content than the ledger's that did not replace it.
    func notWritten(among snapshots: [Snapshot]) -> [Snapshot] {
        snapshots.filter { snapshot in
            guard let kind = RecordKind(of: snapshot.table) else { return false }
            let key = ExactText(snapshot.key)
            return otherContent[kind]?.contains(key) == true && written[kind]?.contains(key) != true
        }
    }

    /// Whether the issue belongs to a snapshot that was just written.
    ///
    /// Other issues are already stored or belong to old snapshots.
    func isOfWrittenRecord(_ issue: FieldIssue) -> Bool {
        let key = ExactText(issue.recordKey)
        return all[issue.kind]?.contains(key) != true || rewritten[issue.kind]?.contains(key) == true
    }
}

extension RowCounts {
    mutating func add(_ changed: ChangedRecords, of records: Int) {
        new += changed.inserted.count
        updated += changed.updated.count
        unchanged += records - changed.inserted.count - changed.updated.count
    }

    mutating func add(_ other: RowCounts) {
        new += other.new
        updated += other.updated
        unchanged += other.unchanged
    }
}
