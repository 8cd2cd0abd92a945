package import AppStoreModel

/// Request Transaction Refund: asks Apple to refund items of a one-time charge or of one period of a subscription.
///
/// Apple decides afterwards: REFUND or REFUND_DECLINED. The app keeps serving until then. Source: Request Transaction Refund,
/// RequestRefundRequest, RequestRefundItem, read 2026-11.
package enum RequestTransactionRefund: AdvancedCommerceAction {
    package static let name = StreamName("requestTransactionRefund")
    package static let requestsPerSecond = 5.0
    package static let path = "transaction/requestRefund"
    package static let bodyColumns = [
        ActionColumn("currency", .advancedCommerce(.currency)),
        ActionColumn("items", .advancedCommerce(.objects(.refundItem)), needsValue: true),
        ActionColumn("refund_risking_preference", .boolean, needsValue: true),
    ]
    package static let subjectKind: ActionSubject? = .transaction
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .notRevoked, .purchased, .advancedCommerce, .ownStorefront, .ownCurrency, .ownSKUs, .notRefunded,
        .refundAmount, .proratedLatest, .simulatedInSandbox, .noPendingRefund,
    ]
    package static let stake: ActionStake? = .price
    package static let readBack: ActionReadBack? = .advancedCommerceTransaction

    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        let items = row.json("items")
        return problem(.repeatedSKU(in: items), .mixedSimulation(in: items))
    }
}
