package import AppStoreModel

/// Finish Transaction: the app has delivered what was bought.
///
/// Source: Finish Transaction, App Store Server API 1.20, read 2026-11.
package enum FinishTransaction: AppStoreAction {
    package static let name = StreamName("finishTransaction")
    package static let requestsPerSecond = 50.0

    package static let columns = [ActionColumn("transaction_id", .transactionID, isRequired: true)]
    package static let subject: String? = "transaction_id"
    package static let subjectKind: ActionSubject? = .transaction
    package static let ledgerRules: [LedgerRule] = [.inLedger]

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .post("/inApps/v1/transactions/\((row.text("transaction_id") ?? "").percentEncoded)/finish")
    }
}
