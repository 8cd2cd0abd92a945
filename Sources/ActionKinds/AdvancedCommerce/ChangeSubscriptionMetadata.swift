package import AppStoreModel

/// Change Subscription Metadata: new SKUs, names and descriptions for the same service at the same price.
///
/// Source: Change Subscription Metadata, SubscriptionChangeMetadataRequest, read 2026-11.
package enum ChangeSubscriptionMetadata: AdvancedCommerceAction {
    package static let name = StreamName("changeSubscriptionMetadata")
    package static let requestsPerSecond = 50.0
    package static let path = "subscription/changeMetadata"
    package static let bodyColumns = [
        ActionColumn("descriptors", .advancedCommerce(.object(.changeMetadataDescriptors))),
        ActionColumn("items", .advancedCommerce(.objects(.changeMetadataItem))),
        ActionColumn("tax_code", .advancedCommerce(.taxCode)),
    ]
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .subscription, .notRevoked, .active, .advancedCommerce, .ownStorefront, .ownSKUs,
    ]
    package static let readBack: ActionReadBack? = .advancedCommerceSubscription(nil)

    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        guard bodyColumns.contains(where: { row[$0.name] != nil }) else {
            return ("no_change", "the row has none of descriptors, items and tax_code, so it changes nothing")
        }
        return problem(.repeatedSKU(in: row.json("items"), key: "currentSKU"))
    }
}
