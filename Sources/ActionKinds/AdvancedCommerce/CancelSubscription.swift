package import AppStoreModel

/// Cancel a Subscription: turns off the automatic renewal of an Advanced Commerce subscription.
///
/// The customer keeps access until the end of the period. Source: Cancel a Subscription, read 2026-11.
package enum CancelSubscription: AdvancedCommerceAction {
    package static let name = StreamName("cancelSubscription")
    package static let requestsPerSecond = 5.0
    package static let path = "subscription/cancel"
    package static let bodyColumns: [ActionColumn] = []
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .subscription, .notRevoked, .active, .advancedCommerce, .ownStorefront, .renewsAutomatically,
    ]
    package static let readBack: ActionReadBack? = .advancedCommerceSubscription(.automaticRenewalIsOff)
}
