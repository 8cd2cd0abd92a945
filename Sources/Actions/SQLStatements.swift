import Postgres

/// The statements in `Sources/Actions/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advancedCommerceFacts = SQLStatement(file: PackageResources.advanced_commerce_facts_sql)
    static let checkRows = SQLStatement(file: PackageResources.check_rows_sql)
    static let countConsent = SQLStatement(file: PackageResources.count_consent_sql)
    static let countMoney = SQLStatement(file: PackageResources.count_money_sql)
    static let countOtherExtensions = SQLStatement(file: PackageResources.count_other_extensions_sql)
    static let countPriceChanges = SQLStatement(file: PackageResources.count_price_changes_sql)
    static let countRows = SQLStatement(file: PackageResources.count_rows_sql)
    static let countStates = SQLStatement(file: PackageResources.count_states_sql)
    static let endLateRow = SQLStatement(file: PackageResources.end_late_row_sql)
    static let findBatches = SQLStatement(file: PackageResources.find_batches_sql)
    static let leaseRows = SQLStatement(file: PackageResources.lease_rows_sql)
    static let nextRow = SQLStatement(file: PackageResources.next_row_sql)
    static let plannedRows = SQLStatement(file: PackageResources.planned_rows_sql)
    static let policyApproval = SQLStatement(file: PackageResources.policy_approval_sql)
    static let policyOutcomes = SQLStatement(file: PackageResources.policy_outcomes_sql)
    static let productFacts = SQLStatement(file: PackageResources.product_facts_sql)
    static let recordIntent = SQLStatement(file: PackageResources.record_intent_sql)
    static let recordOutcome = SQLStatement(file: PackageResources.record_outcome_sql)
    static let refundRequests = SQLStatement(file: PackageResources.refund_requests_sql)
    static let renewRowLeases = SQLStatement(file: PackageResources.renew_row_leases_sql)
    static let resolveSubscriptions = SQLStatement(file: PackageResources.resolve_subscriptions_sql)
    static let resultRows = SQLStatement(file: PackageResources.result_rows_sql)
    static let subscriptionFacts = SQLStatement(file: PackageResources.subscription_facts_sql)
    static let transactionFacts = SQLStatement(file: PackageResources.transaction_facts_sql)
}
