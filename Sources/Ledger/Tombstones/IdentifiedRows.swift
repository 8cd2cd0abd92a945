import LedgerSchema
import Postgres
import StrictJSON

/// A batch of rows, with the customer IDs of each record.
struct IdentifiedRows {
    /// Which records of a batch to withhold.
    struct Decision {
        /// One value for each snapshot.
        var isWithheld: [Bool]
        /// All IDs of erased customers, including those found in this batch.
        var erased: Set<CustomerID>
    }

    let rows: PageRows
    private let records: [RecordIDs]
    /// The possible IDs in each rejected record.
    let rejectedIDs: [Set<CustomerID>]
    /// The IDs of each unsigned answer: its transactions and app transaction, and the listed ID.
    let answerIDs: [Set<CustomerID>]

    /// - Parameters:
    ///   - rows: One page, or one batch of a replay.
    ///   - listed: The listed ID or order ID, if the batch is what Apple returned for it.
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
            // Without a valid transaction, only the text of the notification can contain IDs.
            if records[place].transactionID == nil, let text = archivedNotifications[ExactText(snapshot.key)] {
                records[place].quoted = IDScanner.ids(in: text)
            }
        }
        // All records of one listed ID belong to one customer, for an erasure too.
        let history = Set(listed.map { [$0] } ?? [])
        for place in records.indices { records[place].history = history }
        self.records = records
        rejectedIDs = rows.rejected.map { IDScanner.ids(in: $0.raw).union(history) }
        answerIDs = rows.answers.map { answer in
            let own = Self.customerIDs(answer.row, of: answer.kind.table).union(history)
            return answer.children.reduce(into: own) { ids, child in
                for row in child.rows { ids.formUnion(Self.customerIDs(row, of: child.table)) }
            }
        }
    }

    private static func customerIDs(_ row: Row, of table: Table) -> Set<CustomerID> {
        let kinds: [String: CustomerID.Kind] = [
            "transaction_id": .transaction, "original_transaction_id": .transaction,
            "listed_transaction_id": .transaction, "app_transaction_id": .appTransaction,
        ]
        return Set(
            zip(table.columns, row).compactMap { column, cell in kinds[column.name].flatMap { CustomerID($0, cell) } }
        )
    }

    /// All customer IDs of the batch.
    var ids: Set<CustomerID> {
        var ids: Set<CustomerID> = []
        for record in records { ids.formUnion(record.identifying) }
        for answer in answerIDs { ids.formUnion(answer) }
        for rejected in rejectedIDs { ids.formUnion(rejected) }
        return ids
    }

    /// Decides which records to withhold.
    ///
    /// The IDs of a withheld record can cause other records to be withheld.
    ///
    /// - Parameter known: The IDs of the batch that have a tombstone.
    /// - Returns: The records, and the IDs that need tombstones.
    func decision(_ known: Set<CustomerID>) -> Decision {
        var decision = Decision(isWithheld: records.map { _ in false }, erased: known)
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (place, record) in records.enumerated() where !decision.isWithheld[place] {
                guard !decision.erased.isDisjoint(with: record.identifying) else { continue }
                decision.isWithheld[place] = true
                decision.erased.formUnion(record.revealed)
                isSettled = false
            }
        }
        return decision
    }
}

/// The customer IDs of one record, by how far they identify the customer.
///
/// A record of a member of a family (`FAMILY_SHARED`), organization or group (`ASSIGNED`) belongs to the Apple Account in its
/// `appTransactionId`, not to the payer. So its original transaction ID and account token do not count.
private struct RecordIDs {
    /// Its transaction ID and `appTransactionId`.
    private let own: Set<CustomerID>
    /// Its original transaction IDs.
    ///
    /// In a family member's record they are the payer's.
    private let chain: Set<CustomerID>
    private let account: Set<CustomerID>
    let transactionID: String?
    var isFamilyMembers: Bool
    /// Possible IDs in the text of a notification.
    var quoted: Set<CustomerID> = []
    /// The listed ID in whose history the record came, if any.
    var history: Set<CustomerID> = []

    init(_ snapshot: Snapshot) {
        func ids(_ kind: CustomerID.Kind, _ names: String...) -> Set<CustomerID> {
            Set(names.compactMap { CustomerID(kind, snapshot.cell($0)) })
        }
        let appTransaction = ids(.appTransaction, "app_transaction_id")
        own = ids(.transaction, "transaction_id").union(appTransaction)
        chain = ids(.transaction, "original_transaction_id", "previous_original_transaction_id")
        account = ids(.account, "app_account_token")
        if case .text(let id) = snapshot.cell("transaction_id") { transactionID = id } else { transactionID = nil }
        isFamilyMembers =
            [Cell.text("FAMILY_SHARED"), .text("ASSIGNED")].contains(snapshot.cell("in_app_ownership_type"))
            && !appTransaction.isEmpty
    }

    /// The IDs that identify the record's customer.
    var identifying: Set<CustomerID> {
        let certain = own.union(quoted).union(history)
        return isFamilyMembers ? certain : certain.union(chain).union(account)
    }

    /// The IDs that belong to an erased customer if the record does.
    ///
    /// An account token can later belong to another customer, so only an erasure adds a tombstone for it.
    var revealed: Set<CustomerID> { isFamilyMembers ? own.union(history) : own.union(chain).union(history) }
}
