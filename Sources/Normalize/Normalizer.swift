import AppStoreModel
package import LedgerSchema

/// Maps verified records to ledger rows.
///
/// The mapping is lenient: a field of an unexpected type costs that field, never the row.
package enum Normalizer {
    /// - Returns: The ledger rows of the records, and the records that failed verification.
    package static func normalize(_ page: VerifiedPage) -> PageRows {
        var collector = PageCollector(of: page)
        for entry in page.entries { add(entry, to: &collector) }
        for answer in page.answers { collector.add(answer) }
        return collector.rows
    }

    private static func add(_ entry: VerifiedPage.Entry, to collector: inout PageCollector) {
        switch entry.record.kind {
        case .transaction: addTransaction(entry.record, isRefund: entry.isRefund, to: &collector)
        case .renewalInfo: addRenewal(entry.record, to: &collector)
        case .notification: addNotification(entry.record, sendAttempts: entry.sendAttempts, to: &collector)
        case .appTransaction: addAppTransaction(entry.record, to: &collector)
        }
    }

    /// A refund becomes two rows: the refund, and the newest state of the transaction.
    @discardableResult
    static func addTransaction(
        _ verified: VerifiedRecord,
        isRefund: Bool = false,
        to collector: inout PageCollector
    ) -> MappedRecord {
        let record = archivedRecord(verified, in: &collector)
        collector.noteDrift(of: record)
        let commerce = AdvancedCommerceRows(ownerKind: .transaction, ownerKey: record.key, reading: record.reading)
        collector.add(
            record.snapshot(
                of: Tables.transactions,
                children: commerce.children + [SeatPriceTierRows.children(of: .transaction, record.key, record.reading)]
            ),
            of: record,
            issues: record.issues
        )
        if isRefund { collector.add(record.snapshot(of: Tables.refunds), of: record, issues: []) }
        return record
    }

    @discardableResult
    static func addRenewal(_ verified: VerifiedRecord, to collector: inout PageCollector) -> MappedRecord {
        let record = archivedRecord(verified, in: &collector)
        collector.noteDrift(of: record)
        let commerce = AdvancedCommerceRows(ownerKind: .renewalInfo, ownerKey: record.key, reading: record.reading)
        collector.add(
            record.snapshot(
                of: Tables.renewals,
                children: commerce.children + [SeatPriceTierRows.children(of: .renewalInfo, record.key, record.reading)]
            ),
            of: record,
            issues: record.issues
        )
        return record
    }

    @discardableResult
    static func addAppTransaction(_ verified: VerifiedRecord, to collector: inout PageCollector) -> MappedRecord {
        let record = archivedRecord(verified, in: &collector)
        collector.noteDrift(of: record)
        collector.add(record.snapshot(of: Tables.appTransactions), of: record, issues: record.issues)
        return record
    }

    /// Maps a record and keeps its signed payload.
    static func archivedRecord(_ verified: VerifiedRecord, in collector: inout PageCollector) -> MappedRecord {
        let record = MappedRecord(verified)
        collector.archive(record)
        return record
    }
}
