import Postgres

/// The statements in `Sources/Ledger/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advanceItem = SQLStatement(file: PackageResources.advance_item_sql)
    static let leaseItems = SQLStatement(file: PackageResources.lease_items_sql)
    static let partitionTable = SQLStatement(file: PackageResources.partition_table_sql)
    static let resolveRejects = SQLStatement(file: PackageResources.resolve_rejects_sql)

    static let ofLedger = [
        ("advance_item", advanceItem), ("lease_items", leaseItems), ("partition_table", partitionTable),
        ("resolve_rejects", resolveRejects),
    ]
}
