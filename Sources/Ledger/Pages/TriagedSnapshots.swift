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

/// What is to be done with the snapshots of one table.
struct TriagedSnapshots {
    /// All of them.
    let snapshots: [Snapshot]
    /// Records the ledger does not have yet.
    var new: [HashedSnapshot] = []
    /// May replace what the ledger has of their records.
    var standing: [HashedSnapshot] = []
    /// Records the ledger has with another payload: signed again, or with content that may be replaced.
    var held: [HeldRecord] = []
    /// Are what the ledger has, to a replay, and have or had rows of their own in other tables.
    var owners: [Snapshot] = []
    /// Keys of transactions that the ledger has with this content, and without the listed ID under which they came now.
    var unlisted: [String] = []
    /// Keys of the records whose content is not what the ledger has.
    var otherContent: Set<ExactText> = []
}

/// Keys of the records of one table that a batch has changed.
struct ChangedRecords {
    /// The ledger did not have them when the batch was triaged.
    let new: Set<ExactText>
    var inserted: Set<ExactText> = []
    var updated: Set<ExactText> = []
    /// Updated, or made again by a replay.
    var rewritten: Set<ExactText> = []

    init(new: Set<ExactText>) {
        self.new = new
    }
}

/// What became of the records of a batch, across tables.
struct MergedRecords {
    /// By the kind of record, the keys that the ledger did not have.
    private(set) var inserted: [RecordKind: Set<ExactText>] = [:]
    /// By the kind of record, the keys whose snapshot was replaced.
    private(set) var replaced: [RecordKind: Set<ExactText>] = [:]
    private var changed: [RecordKind: Set<ExactText>] = [:]
    private var won: [RecordKind: Set<ExactText>] = [:]
    private var known: [RecordKind: Set<ExactText>] = [:]
    private var other: [RecordKind: Set<ExactText>] = [:]

    mutating func note(
        _ snapshots: [Snapshot],
        of table: Table,
        _ changed: ChangedRecords,
        _ triaged: TriagedSnapshots
    ) {
        if let kind = RecordKind(of: table) {
            inserted[kind] = changed.new
            replaced[kind] = changed.rewritten
            self.changed[kind] = changed.inserted.union(changed.rewritten)
            won[kind] = changed.inserted.union(changed.updated)
        }
        let kind = RecordKind.ofPayloads(in: table)
        known[kind, default: []].formUnion(snapshots.map { ExactText($0.key) })
        other[kind, default: []].formUnion(triaged.otherContent)
    }

    /// Whether every table that holds the record had this content already.
    ///
    /// Then the archive has it under its first signature.
    func isKnownContent(_ payload: ArchivedPayload) -> Bool {
        let key = ExactText(payload.recordKey)
        return known[payload.kind]?.contains(key) == true && other[payload.kind]?.contains(key) != true
    }

    /// The snapshots that the ledger did not have, or that replaced another one.
    func written(among snapshots: [Snapshot]) -> [Snapshot] {
        snapshots.filter { snapshot in
            RecordKind(of: snapshot.table).flatMap { won[$0] }?.contains(ExactText(snapshot.key)) == true
        }
    }

    /// Whether the issue is one of a snapshot that the ledger shows from now on; others are known, or history.
    func isOfWrittenRecord(_ issue: FieldIssue) -> Bool {
        let key = ExactText(issue.recordKey)
        return known[issue.kind]?.contains(key) != true || changed[issue.kind]?.contains(key) == true
    }
}

extension RowCounts {
    mutating func add(_ changed: ChangedRecords, of records: Int) {
        new += changed.inserted.count
        updated += changed.updated.count
        unchanged += records - changed.inserted.count - changed.updated.count
    }
}
