import LedgerSchema
import Postgres
import StrictJSON

/// Removes the records of erased customers from a batch before it is stored.
///
/// A record is withheld if one of its IDs has a tombstone. Its archived payload, field issues and delivery attempts are
/// withheld too, and so is a rejected text that contains the ID.
struct WithheldRecords {
    /// The rows that may be stored.
    private(set) var kept: PageRows
    /// The number of withheld records, including rejected ones.
    private(set) var count = 0
    /// IDs that only a withheld record links to the customer; they need tombstones too.
    private(set) var revealed: Set<CustomerID> = []

    /// - Parameters:
    ///   - batch: One page, or one batch of a replay.
    ///   - known: The IDs of the batch that have a tombstone.
    init(of batch: IdentifiedRows, erased known: Set<CustomerID>) {
        kept = batch.rows
        guard !known.isEmpty else { return }
        let decision = batch.decision(known)
        revealed = decision.erased.subtracting(known)
        apply(decision, batch: batch)
    }

    private mutating func apply(_ decision: IdentifiedRows.Decision, batch: IdentifiedRows) {
        let rows = kept
        let records = zip(rows.snapshots, decision.isWithheld)
        kept.snapshots = records.compactMap { $1 ? nil : $0 }
        var withheld: Set<RecordName> = []
        for (snapshot, isWithheld) in records where isWithheld {
            // A refund is archived as a transaction.
            let kind = RecordKind.ofPayloads(in: snapshot.table)
            withheld.insert(RecordName(kind: kind, key: ExactText(snapshot.key)))
            if snapshot.table != Tables.refunds { count += 1 }
        }
        kept.answers = zip(rows.answers, batch.answerIDs).compactMap { decision.erased.isDisjoint(with: $1) ? $0 : nil }
        let rejected = zip(rows.rejected, batch.rejectedIDs)
        kept.rejected = rejected.compactMap { decision.erased.isDisjoint(with: $1) ? $0 : nil }
        count += rows.rejected.count - kept.rejected.count
        guard count > 0 || !withheld.isEmpty else { return }
        kept.archive.removeAll { withheld.contains(RecordName(kind: $0.kind, key: ExactText($0.recordKey))) }
        kept.issues.removeAll { withheld.contains(RecordName(kind: $0.kind, key: ExactText($0.recordKey))) }
        kept.sendAttempts.removeAll { attempt in
            guard case .text(let uuid)? = attempt.first else { return false }
            return withheld.contains(RecordName(kind: .notification, key: ExactText(uuid)))
        }
        // The record of an unknown field cannot be identified, so no sample is kept. The next page without such a
        // record reports the field.
        kept.drift = []
        if kept.snapshots.isEmpty { kept.sawRevocation = false }
    }
}

/// The name of a record in the archive and the field issues.
private struct RecordName: Hashable {
    let kind: RecordKind
    let key: ExactText
}
