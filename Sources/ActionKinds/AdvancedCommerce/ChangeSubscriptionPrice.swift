package import AppStoreModel

/// Change Subscription Price: new prices of items from the next renewal on.
///
/// Apple tells the customer of an increase, and asks for consent where it is needed. Call it at least 24 hours before the renewal.
/// Source: Change Subscription Price, SubscriptionPriceChangeRequest, Handling subscription price changes, read 2026-11.
package enum ChangeSubscriptionPrice: AdvancedCommerceAction {
    package static let name = StreamName("changeSubscriptionPrice")
    package static let requestsPerSecond = 50.0
    package static let path = "subscription/changePrice"
    package static let bodyColumns = [
        ActionColumn("currency", .advancedCommerce(.currency)),
        ActionColumn("items", .advancedCommerce(.objects(.priceChangeItem)), needsValue: true),
    ]
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .subscription, .notRevoked, .noBillingRetry, .active, .advancedCommerce, .renewalInfo,
        .ownStorefront,
        .ownCurrency, .ownSKUs, .renewsAutomatically, .noPriceIncrease, .noItemInOffer, .noIncreaseInIndia,
        .renewsLater,
    ]
    package static let readBack: ActionReadBack? = .advancedCommerceSubscription(.pricesAreChanged)
    package static let mayNeedConsent = true

    /// Apple lists no 4000097 for this call; 4000205 says that an increase was communicated, which the read-back has to show.
    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        let items = row.json("items")
        return problem(.repeatedSKU(in: items), .wrongDependents(in: items))
    }
}
