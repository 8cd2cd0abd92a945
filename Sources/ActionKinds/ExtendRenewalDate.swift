package import AppStoreModel
import StrictJSON

/// Extend a Subscription Renewal Date: gives one subscriber free days, at most twice in 365 days.
///
/// Source: Extend a Subscription Renewal Date, ExtendRenewalDateRequest, ExtendRenewalDateResponse, read 2026-11.
package enum ExtendRenewalDate: AppStoreAction {
    package static let name = StreamName("extendRenewalDate")
    package static let requestsPerSecond = 20.0

    package static let columns = [
        ActionColumn("original_transaction_id", .transactionID, isRequired: true),
        ActionColumn("extend_by_days", .integer(1...90), needsValue: true),
        // Apple answers 500 to a request without a reason code.
        ActionColumn("extend_reason_code", .integer(0...3), needsValue: true),
    ]
    package static let subject: String? = "original_transaction_id"
    package static let subjectKind: ActionSubject? = .subscription
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .subscription, .notRevoked, .purchased, .active, .noFreeOffer, .fewerThanTwoExtensions,
    ]
    package static let stake: ActionStake? = .extendedDays
    package static let repeatSettles = false
    package static let readBack: ActionReadBack? = .expiresDate

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        let body = JSONObject.of([
            ("extendByDays", row["extend_by_days"]?.json),
            ("extendReasonCode", row["extend_reason_code"]?.json),
            ("requestIdentifier", .string(id)),
        ])
        return .put(
            "/inApps/v1/subscriptions/extend/\((row.text("original_transaction_id") ?? "").percentEncoded)",
            body: JSONWriter.bytes(.object(body))
        )
    }

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body), let success = answer["success"]?.bool else {
            throw .badPage(reason: "the answer has no success; it must be true or false")
        }
        guard success else { return .refused(message: "Apple answered success: false") }
        return .succeeded(
            .of([
                ("effectiveDate", answer["effectiveDate"]),
                ("webOrderLineItemId", answer["webOrderLineItemId"]),
            ])
        )
    }
}
