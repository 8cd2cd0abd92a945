package import AppStoreModel

/// Revoke Subscription: ends a subscription and all of its items at once, with a full or prorated refund.
///
/// The app keeps serving until the REFUND notification. Source: Revoke Subscription, SubscriptionRevokeRequest, read 2026-11.
package enum RevokeSubscription: AdvancedCommerceAction {
    package static let name = StreamName("revokeSubscription")
    package static let requestsPerSecond = 5.0
    package static let path = "subscription/revoke"
    package static let bodyColumns = [
        ActionColumn("refund_reason", .advancedCommerce(.refundReason), needsValue: true),
        ActionColumn("refund_risking_preference", .boolean, needsValue: true),
        ActionColumn("refund_type", .advancedCommerce(.revokeRefundType), needsValue: true),
    ]
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .subscription, .notRevoked, .active, .advancedCommerce, .ownStorefront, .simulatedInSandbox,
    ]
    package static let stake: ActionStake? = .price
    package static let readBack: ActionReadBack? = .advancedCommerceSubscription(.isRevoked)
}
