import Postgres

/// The statements in `Sources/Actions/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advancedCommerceFacts = SQLStatement(file: PackageResources.advanced_commerce_facts_sql)
    static let approveBatch = SQLStatement(file: PackageResources.approve_batch_sql)
    static let approvePolicy = SQLStatement(file: PackageResources.approve_policy_sql)
    static let checkRows = SQLStatement(file: PackageResources.check_rows_sql)
    static let compareRows = SQLStatement(file: PackageResources.compare_rows_sql)
    static let countConsent = SQLStatement(file: PackageResources.count_consent_sql)
    static let countMoney = SQLStatement(file: PackageResources.count_money_sql)
    static let countOtherExtensions = SQLStatement(file: PackageResources.count_other_extensions_sql)
    static let countPriceChanges = SQLStatement(file: PackageResources.count_price_changes_sql)
    static let countRows = SQLStatement(file: PackageResources.count_rows_sql)
    static let countStates = SQLStatement(file: PackageResources.count_states_sql)
    static let createActionStage = SQLStatement(file: PackageResources.create_action_stage_sql)
    static let endRowWithoutConsent = SQLStatement(file: PackageResources.end_row_without_consent_sql)
    static let extensionSummary = SQLStatement(file: PackageResources.extension_summary_sql)
    static let checkReportLines = SQLStatement(file: PackageResources.check_report_lines_sql)
    static let findBatches = SQLStatement(file: PackageResources.find_batches_sql)
    static let findRequestInFlight = SQLStatement(file: PackageResources.find_request_in_flight_sql)
    static let finishBatch = SQLStatement(file: PackageResources.finish_batch_sql)
    static let groupReports = SQLStatement(file: PackageResources.group_reports_sql)
    static let firstRows = SQLStatement(file: PackageResources.first_rows_sql)
    static let giveUpRow = SQLStatement(file: PackageResources.give_up_row_sql)
    static let insertInputRows = SQLStatement(file: PackageResources.insert_input_rows_sql)
    static let insertBatch = SQLStatement(
        file: PackageResources.insert_batch_sql,
        parts: ["approval_column": [], "approval_value": []]
    )
    static let insertBatchWithoutApproval = SQLStatement(
        file: PackageResources.insert_batch_sql,
        parts: ["approval_column": Array(", approval_required".utf8), "approval_value": Array(", false".utf8)]
    )
    static let leaseRows = SQLStatement(file: PackageResources.lease_rows_sql)
    static let nextRow = SQLStatement(file: PackageResources.next_row_sql)
    static let openRows = SQLStatement(file: PackageResources.open_rows_sql)
    static let policyApproval = SQLStatement(file: PackageResources.policy_approval_sql)
    static let policyOutcomes = SQLStatement(file: PackageResources.policy_outcomes_sql)
    static let productFacts = SQLStatement(file: PackageResources.product_facts_sql)
    static let recordIntent = SQLStatement(file: PackageResources.record_intent_sql)
    static let retentionUploads = SQLStatement(file: PackageResources.retention_uploads_sql)
    static let rowsBefore = SQLStatement(file: PackageResources.rows_before_sql)
    static let recordOutcome = SQLStatement(file: PackageResources.record_outcome_sql)
    static let refundRequests = SQLStatement(file: PackageResources.refund_requests_sql)
    static let renewRowLeases = SQLStatement(file: PackageResources.renew_row_leases_sql)
    static let seatFacts = SQLStatement(file: PackageResources.seat_facts_sql)
    static let resolveSubscriptions = SQLStatement(file: PackageResources.resolve_subscriptions_sql)
    static let resultInputRows = SQLStatement(file: PackageResources.result_input_rows_sql)
    static let refuseReports = SQLStatement(file: PackageResources.refuse_reports_sql)
    static let resultRows = SQLStatement(file: PackageResources.result_rows_sql)
    static let subscriptionFacts = SQLStatement(file: PackageResources.subscription_facts_sql)
    static let transactionFacts = SQLStatement(file: PackageResources.transaction_facts_sql)
    static let undeliveredPercentages = SQLStatement(file: PackageResources.undelivered_percentages_sql)
}
