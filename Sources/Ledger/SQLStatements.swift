import Postgres

/// The statements in `Sources/Ledger/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advanceItem = SQLStatement(file: PackageResources.advance_item_sql)
    static let claimReceived = SQLStatement(file: PackageResources.claim_received_sql)
    static let leaseItems = SQLStatement(file: PackageResources.lease_items_sql)
    static let partitionTable = SQLStatement(file: PackageResources.partition_table_sql)
    static let partitionTriggers = SQLStatement(file: PackageResources.partition_triggers_sql)
    static let quarantineReceived = SQLStatement(file: PackageResources.quarantine_received_sql)
    static let receiverStatus = SQLStatement(file: PackageResources.receiver_status_sql)
    static let reconcileDay = SQLStatement(file: PackageResources.reconcile_day_sql)
    static let reconciliationDays = SQLStatement(file: PackageResources.reconciliation_days_sql)
    static let replaceReceived = SQLStatement(file: PackageResources.replace_received_sql)
    static let resolveRejects = SQLStatement(file: PackageResources.resolve_rejects_sql)
    static let settleReceived = SQLStatement(file: PackageResources.settle_received_sql)
    static let storage = SQLStatement(file: PackageResources.storage_sql)
    static let storeReceived = SQLStatement(file: PackageResources.store_received_sql)

    /// Every statement but `storeReceived`, whose parameter has a type that each session creates.
    static let ofLedger = [
        ("advance_item", advanceItem), ("claim_received", claimReceived), ("lease_items", leaseItems),
        ("partition_table", partitionTable), ("partition_triggers", partitionTriggers),
        ("quarantine_received", quarantineReceived),
        ("receiver_status", receiverStatus), ("reconcile_day", reconcileDay),
        ("reconciliation_days", reconciliationDays), ("replace_received", replaceReceived),
        ("resolve_rejects", resolveRejects), ("settle_received", settleReceived), ("storage", storage),
    ]
}
