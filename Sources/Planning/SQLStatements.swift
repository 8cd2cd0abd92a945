import Postgres

/// The statements in `Sources/Planning/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let changedCustomers = SQLStatement(file: PackageResources.changed_customers_sql)
    static let markRefunded = SQLStatement(file: PackageResources.mark_refunded_sql)
    static let refundsDue = SQLStatement(file: PackageResources.refunds_due_sql)

    static let ofPlanning = [
        ("changed_customers", changedCustomers), ("mark_refunded", markRefunded), ("refunds_due", refundsDue),
    ]
}
