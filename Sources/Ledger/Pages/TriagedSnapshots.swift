import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON

/// A snapshot and the ``ContentHasher/hash(of:)`` of its row.
struct HashedSnapshot {
    let snapshot: Snapshot
    let hash: Cell

    /// The cells of ``Staging/hashed(_:)``.
    var row: Row { snapshot.completedRow + [hash] }
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
    /// Snapshots that do not win, and their facts that the ledger's row lacks.
    ///
    /// A fact is a column about something that cannot change about a purchase, such as its price. A newer signature that
    /// leaves it out does not clear it; see ``LedgerSchema/Table/facts``.
    var completing: [(hashed: HashedSnapshot, missing: [String])] = []
    /// Keys of transactions that the ledger has with this content, but without the current listed ID.
    var unlisted: [String] = []
    /// Keys of records whose content differs from the ledger's.
    var otherContent: Set<ExactText> = []

    /// Replaces what was found for records that looked new, but that another worker has inserted meanwhile.
    ///
    /// - Parameters:
    ///   - snapshots: Snapshots that are no longer in ``new``.
    ///   - found: What the ledger says of them now.
    mutating func replace(_ snapshots: [Snapshot], by found: TriagedSnapshots) {
        otherContent.subtract(snapshots.map { ExactText($0.key) })
        otherContent.formUnion(found.otherContent)
        // An erasure may have removed a record again. The merge inserts it then.
        replacing += found.new + found.replacing
        held += found.held
        owners += found.owners
        completing += found.completing
        unlisted += found.unlisted
    }
}

/// Keys of the records of one table that a batch has changed.
struct ChangedRecords {
    /// Records that were inserted because the triage did not find them.
    let new: Set<ExactText>
    /// ``new``, and the records that ``MergeSQL/newestWins(_:mode:)`` inserted.
    var inserted: Set<ExactText> = []
    /// Records whose row was replaced by a snapshot that wins.
    var updated: Set<ExactText> = []
    /// ``updated``, and records whose children and field issues a replay writes again.
    var rewritten: Set<ExactText> = []
    /// Records whose row got facts from a snapshot that does not win.
    var completed: Set<ExactText> = []
    /// The facts that a signature leaves out and the row has.
    var leftOut: [FieldIssue] = []

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
    /// The facts that newest signatures leave out and rows have.
    private var leftOut: [FieldIssue] = []

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
        leftOut += changed.leftOut
        let kind = RecordKind.ofPayloads(in: table)
        all[kind, default: []].formUnion(snapshots.map { ExactText($0.key) })
        otherContent[kind, default: []].formUnion(triaged.otherContent)
    }

    /// Whether the batch changed no table of the record: the archive then has its content under the first signature.
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

    /// The issues to store: issues of snapshots that were just written, and the facts that they leave out.
    func issues(among read: [FieldIssue]) -> [FieldIssue] {
        let issues = read.filter(isOfWrittenRecord)
        // A field that cannot be read is one issue, not two.
        let known = Set(issues.map { [$0.kind.rawValue, $0.recordKey, $0.path] })
        return issues + Set(leftOut).filter { !known.contains([$0.kind.rawValue, $0.recordKey, $0.path]) }
    }

    /// Whether the issue belongs to a snapshot that was just written.
    ///
    /// Other issues are already stored or belong to old snapshots.
    private func isOfWrittenRecord(_ issue: FieldIssue) -> Bool {
        let key = ExactText(issue.recordKey)
        return all[issue.kind]?.contains(key) != true || rewritten[issue.kind]?.contains(key) == true
    }
}

extension RowCounts {
    mutating func add(_ changed: ChangedRecords, of records: Int) {
        let changedRows = changed.updated.union(changed.completed).count
        new += changed.inserted.count
        updated += changedRows
        unchanged += records - changed.inserted.count - changedRows
    }

    mutating func add(_ other: RowCounts) {
        new += other.new
        updated += other.updated
        unchanged += other.unchanged
    }
}
