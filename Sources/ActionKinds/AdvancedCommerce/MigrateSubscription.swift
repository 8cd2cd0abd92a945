package import AppStoreModel

/// Migrate a Subscription to Advanced Commerce API: an ordinary subscription goes on with the app's own items.
///
/// Source: Migrate a Subscription to Advanced Commerce API, SubscriptionMigrateRequest, read 2026-11.
package enum MigrateSubscription: AdvancedCommerceAction {
    package static let name = StreamName("migrateSubscription")
    package static let requestsPerSecond = 50.0
    package static let path = "subscription/migrate"
    package static let bodyColumns = [
        ActionColumn("descriptors", .advancedCommerce(.object(.descriptors)), needsValue: true),
        ActionColumn("items", .advancedCommerce(.objects(.migrateItem)), needsValue: true),
        ActionColumn("renewal_items", .advancedCommerce(.objects(.migrateItem))),
        ActionColumn("target_product_id", .advancedCommerce(.targetProductId), needsValue: true),
        ActionColumn("tax_code", .advancedCommerce(.taxCode), needsValue: true),
    ]
    /// An ordinary subscription has no consistency token.
    package static let sendsConsistencyToken = false
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .subscription, .notRevoked, .purchased, .active, .notMigrated, .ownStorefront, .noPriceIncrease,
        .pendingChange,
    ]
    package static let readBack: ActionReadBack? = .advancedCommerceSubscription(nil)

    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        problem(
            .repeatedSKU(in: row.json("items")),
            .repeatedSKU(in: row.json("renewal_items"), at: "renewal_items")
        )
    }
}
