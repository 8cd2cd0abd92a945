import Postgres

/// The statements in `Sources/Inbox/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let claimForwards = SQLStatement(file: PackageResources.claim_forwards_sql)
    static let claimReceived = SQLStatement(file: PackageResources.claim_received_sql)
    static let endForward = SQLStatement(file: PackageResources.end_forward_sql)
    static let giveUpForwards = SQLStatement(file: PackageResources.give_up_forwards_sql)
    static let postponeForward = SQLStatement(file: PackageResources.postpone_forward_sql)
    static let quarantineReceived = SQLStatement(file: PackageResources.quarantine_received_sql)
    static let reconcileDay = SQLStatement(file: PackageResources.reconcile_day_sql)
    static let reconciliationDays = SQLStatement(file: PackageResources.reconciliation_days_sql)
    static let replaceReceived = SQLStatement(file: PackageResources.replace_received_sql)
    static let settleReceived = SQLStatement(file: PackageResources.settle_received_sql)
    static let storeReceived = SQLStatement(file: PackageResources.store_received_sql)

    /// Every statement but `storeReceived`, whose parameter has a type that each session creates.
    static let ofInbox = [
        ("claim_forwards", claimForwards),
        ("claim_received", claimReceived),
        ("end_forward", endForward),
        ("give_up_forwards", giveUpForwards),
        ("postpone_forward", postponeForward),
        ("quarantine_received", quarantineReceived),
        ("reconcile_day", reconcileDay),
        ("reconciliation_days", reconciliationDays),
        ("replace_received", replaceReceived),
        ("settle_received", settleReceived),
    ]
}
