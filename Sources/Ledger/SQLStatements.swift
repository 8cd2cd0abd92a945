import Postgres

/// The statements in `Sources/Ledger/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advanceItem = SQLStatement(file: PackageResources.advance_item_sql)
    static let leaseItems = SQLStatement(file: PackageResources.lease_items_sql)
    static let partitionTable = SQLStatement(file: PackageResources.partition_table_sql)
    static let receiverStatus = SQLStatement(file: PackageResources.receiver_status_sql)
    static let reconcileDay = SQLStatement(file: PackageResources.reconcile_day_sql)
    static let reconciliationDays = SQLStatement(file: PackageResources.reconciliation_days_sql)
    static let resolveRejects = SQLStatement(file: PackageResources.resolve_rejects_sql)

    static let ofLedger = [
        ("advance_item", advanceItem), ("lease_items", leaseItems), ("partition_table", partitionTable),
        ("receiver_status", receiverStatus), ("reconcile_day", reconcileDay),
        ("reconciliation_days", reconciliationDays), ("resolve_rejects", resolveRejects),
    ]
}
