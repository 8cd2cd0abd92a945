/// The statements that are files; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advanceItem = SQLStatement(file: PackageResources.advance_item_sql)
    static let changedCustomers = SQLStatement(file: PackageResources.changed_customers_sql)
    static let leaseItems = SQLStatement(file: PackageResources.lease_items_sql)
    static let markRefunded = SQLStatement(file: PackageResources.mark_refunded_sql)
    static let refundsDue = SQLStatement(file: PackageResources.refunds_due_sql)

    static let all: [(name: String, statement: SQLStatement)] = [
        ("advance_item", advanceItem), ("changed_customers", changedCustomers), ("lease_items", leaseItems),
        ("mark_refunded", markRefunded), ("refunds_due", refundsDue),
    ]
}
