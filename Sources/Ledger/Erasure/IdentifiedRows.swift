import AppStoreModel
import LedgerTables
import StrictJSON

/// A batch of rows and the IDs of everything in it.
struct IdentifiedRows {
    /// What is withheld of a batch.
    struct Verdict {
        /// For each snapshot.
        var isWithheld: [Bool]
        /// All IDs that are known to be erased by now.
        var erased: Set<CustomerID>
    }

    let rows: PageRows
    private let records: [RecordIDs]
    /// For each rejected record, what may be an ID in it.
    let rejectedIDs: [Set<CustomerID>]
    private let appTransactions: Set<CustomerID>

    /// - Parameters:
    ///   - rows: Of one page, or of the batch of a replay.
    ///   - listed: The ID under which all of it was found, where it is one customer's history.
    init(_ rows: PageRows, listed: CustomerID? = nil) {
        self.rows = rows
        var records = rows.snapshots.map(RecordIDs.init)
        var familyTransactions: Set<ExactText> = []
        for (snapshot, record) in zip(rows.snapshots, records)
        where snapshot.table == Tables.transactions && record.isFamilyMembers {
            familyTransactions.insert(ExactText(snapshot.key))
        }
        var archivedNotifications: [ExactText: [UInt8]] = [:]
        for payload in rows.archive where payload.kind == .notification {
            archivedNotifications[ExactText(payload.recordKey)] = payload.payload
        }
        for (place, snapshot) in rows.snapshots.enumerated() where snapshot.table == Tables.notifications {
            if let id = records[place].transactionID, familyTransactions.contains(ExactText(id)) {
                records[place].isFamilyMembers = true
            }
            // What it quotes was not believed, or it is about no purchase: only its text can tell.
            if records[place].transactionID == nil, let text = archivedNotifications[ExactText(snapshot.key)] {
                records[place].quoted = IDTraces.ids(in: text)
            }
        }
        // What came with one listed ID is one customer's, to an erasure as well.
        let history = Set(listed.map { [$0] } ?? [])
        for place in records.indices { records[place].history = history }
        self.records = records
        rejectedIDs = rows.rejected.map { IDTraces.ids(in: $0.raw).union(history) }
        appTransactions = Set(
            rows.archive.filter { $0.kind == .appTransaction }.map { .appTransaction($0.recordKey) }
        )
    }

    /// All of them.
    var ids: Set<CustomerID> {
        var ids = appTransactions
        for record in records { ids.formUnion(record.deciding) }
        for rejected in rejectedIDs { ids.formUnion(rejected) }
        return ids
    }

    /// Follows the IDs from record to record: what is withheld names others that are.
    func verdict(_ known: Set<CustomerID>) -> Verdict {
        var verdict = Verdict(isWithheld: records.map { _ in false }, erased: known)
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (place, record) in records.enumerated() where !verdict.isWithheld[place] {
                guard !verdict.erased.isDisjoint(with: record.deciding) else { continue }
                verdict.isWithheld[place] = true
                verdict.erased.formUnion(record.taught)
                isSettled = false
            }
        }
        return verdict
    }
}

/// The IDs of one record and which of them decide.
///
/// A family member's record (`FAMILY_SHARED`) belongs to the Apple Account in its `appTransactionId`, never to whoever
/// bought what is shared: the original transaction ID and the account token do not count there.
private struct RecordIDs {
    private let own: Set<CustomerID>
    private let chain: Set<CustomerID>
    private let account: Set<CustomerID>
    let transactionID: String?
    var isFamilyMembers: Bool
    /// What may be an ID in a notification's text.
    var quoted: Set<CustomerID> = []
    /// The listed ID in whose history the record came, if any.
    var history: Set<CustomerID> = []

    init(_ snapshot: Snapshot) {
        let columns = snapshot.table.columns
        func cell(_ name: String) -> Cell {
            columns.firstIndex { $0.name == name }.map { snapshot.row[$0] } ?? .null
        }
        func ids(_ kind: CustomerID.Kind, _ names: String...) -> Set<CustomerID> {
            Set(names.compactMap { CustomerID(kind, cell($0)) })
        }
        let appTransaction = ids(.appTransaction, "app_transaction_id")
        own = ids(.transaction, "transaction_id").union(appTransaction)
        chain = ids(.transaction, "original_transaction_id", "previous_original_transaction_id")
        account = ids(.account, "app_account_token")
        if case .text(let id) = cell("transaction_id") { transactionID = id } else { transactionID = nil }
        isFamilyMembers = cell("in_app_ownership_type") == .text("FAMILY_SHARED") && !appTransaction.isEmpty
    }

    var deciding: Set<CustomerID> {
        let certain = own.union(quoted).union(history)
        return isFamilyMembers ? certain : certain.union(chain).union(account)
    }

    /// An account token may come to name somebody else; it is marked only by an erasure.
    var taught: Set<CustomerID> { isFamilyMembers ? own.union(history) : own.union(chain).union(history) }
}
