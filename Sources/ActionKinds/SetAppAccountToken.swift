package import AppStoreModel
import StrictJSON

/// Set App Account Token: the UUID of the customer in the app's own system, for a purchase that has none or another.
///
/// Source: Set App Account Token, read 2026-11.
package enum SetAppAccountToken: AppStoreAction {
    package static let name = StreamName("setAppAccountToken")
    package static let requestsPerSecond = 20.0

    package static let columns = [
        ActionColumn("original_transaction_id", .transactionID, isRequired: true),
        ActionColumn("app_account_token", .uuid, isRequired: true),
    ]
    package static let subject: String? = "original_transaction_id"
    package static let subjectKind: ActionSubject? = .subscription
    package static let ledgerRules: [LedgerRule] = [.inLedger, .purchased]
    package static let readBack: ActionReadBack? = .appAccountToken

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .put(
            "/inApps/v1/transactions/\((row.text("original_transaction_id") ?? "").percentEncoded)/appAccountToken",
            body: JSONWriter.bytes(.object(.of([("appAccountToken", row["app_account_token"]?.json)])))
        )
    }
}
