import AppStoreModel
import LedgerTables
import StrictJSON

/// Takes the records of erased customers out of a batch before anything of it is stored.
///
/// A record is withheld when one of its IDs has a tombstone. So is everything that came with it: what the archive, the
/// odd fields and the delivery attempts would keep of it, and a rejected text in which the ID can be found.
struct WithheldRecords {
    /// What may be stored.
    private(set) var kept: PageRows
    /// Records that may not, rejected ones included.
    private(set) var count = 0
    /// IDs that only a withheld record tied to its customer; they want a tombstone of their own.
    private(set) var learned: Set<CustomerID> = []

    /// - Parameters:
    ///   - batch: Read from a page, or from the batch of a replay.
    ///   - known: Of its IDs, those with a tombstone.
    init(of batch: IdentifiedRows, erased known: Set<CustomerID>) {
        kept = batch.rows
        guard !known.isEmpty else { return }
        let verdict = batch.verdict(known)
        learned = verdict.erased.subtracting(known)
        remove(verdict, batch: batch)
    }

    private mutating func remove(_ verdict: IdentifiedRows.Verdict, batch: IdentifiedRows) {
        let rows = kept
        let records = zip(rows.snapshots, verdict.isWithheld)
        kept.snapshots = records.compactMap { $1 ? nil : $0 }
        var withheld: Set<RecordName> = []
        for (snapshot, isWithheld) in records where isWithheld {
            // A refund is a transaction once more.
            let kind = RecordKind.ofPayloads(in: snapshot.table)
            withheld.insert(RecordName(kind: kind, key: ExactText(snapshot.key)))
            if snapshot.table != Tables.refunds { count += 1 }
        }
        for payload in rows.archive where payload.kind == .appTransaction {
            guard verdict.erased.contains(.appTransaction(payload.recordKey)) else { continue }
            withheld.insert(RecordName(kind: payload.kind, key: ExactText(payload.recordKey)))
        }
        let rejected = zip(rows.rejected, batch.rejectedIDs)
        kept.rejected = rejected.compactMap { verdict.erased.isDisjoint(with: $1) ? $0 : nil }
        count += rows.rejected.count - kept.rejected.count
        guard count > 0 || !withheld.isEmpty else { return }
        kept.archive.removeAll { withheld.contains(RecordName(kind: $0.kind, key: ExactText($0.recordKey))) }
        kept.issues.removeAll { withheld.contains(RecordName(kind: $0.kind, key: ExactText($0.recordKey))) }
        kept.sendAttempts.removeAll { attempt in
            guard case .text(let uuid)? = attempt.first else { return false }
            return withheld.contains(RecordName(kind: .notification, key: ExactText(uuid)))
        }
        // Nothing says which record an unknown field was in; the next page without such a record shows it again.
        kept.drift = []
        if kept.snapshots.isEmpty { kept.sawRevocation = false }
    }
}

/// What the archive and the odd fields call a record.
private struct RecordName: Hashable {
    let kind: RecordKind
    let key: ExactText
}
