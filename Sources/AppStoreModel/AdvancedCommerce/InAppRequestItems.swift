import StrictJSON

/// The objects inside the requests that an app passes to StoreKit.
extension AdvancedCommerceObject {
    /// What identifies a request.
    static let inAppRequestInfo = AdvancedCommerceObject(
        "RequestInfo",
        [
            AdvancedCommerceField(
                "requestReferenceId",
                .uuid(invalid: .invalidRequestReferenceID),
                missing: .nullRequestReferenceID
            ),
            AdvancedCommerceField("appAccountToken", .appAccountToken),
            // Apple documents no length; its tokens have about 50 characters.
            AdvancedCommerceField(
                "consistencyToken",
                .text(
                    longest: 1_024,
                    rule: AppleErrorCode.invalidConsistencyToken.objectName,
                    invalid: .invalidConsistencyToken
                )
            ),
        ]
    )

    static let oneTimeChargeItem = AdvancedCommerceObject("OneTimeChargeItem", newItem)

    static let createItem = AdvancedCommerceObject(
        "SubscriptionCreateItem",
        newItem + [AdvancedCommerceField("offer", .object(.offer))],
        rule: offerPrice
    )

    static let modifyAddItem = AdvancedCommerceObject(
        "SubscriptionModifyAddItem",
        newItem + [
            AdvancedCommerceField("offer", .object(.offer)),
            AdvancedCommerceField("proratedPrice", .proratedPrice),
        ]
    ) { item in
        offerPrice(item) ?? twoPrices(item)
    }

    static let modifyChangeItem = AdvancedCommerceObject(
        "SubscriptionModifyChangeItem",
        [
            AdvancedCommerceField("currentSKU", .currentSKU, missing: .nullCurrentSKU),
            AdvancedCommerceField("SKU", .sku, missing: .nullNewSKU),
        ] + newItem.dropFirst() + [
            AdvancedCommerceField("effective", .effective, missing: .nullEffective),
            AdvancedCommerceField("reason", .changeReason, missing: .nullReason),
            AdvancedCommerceField("offer", .object(.offer)),
            AdvancedCommerceField("proratedPrice", .proratedPrice),
        ]
    ) { item in
        if let problem = offerPrice(item) ?? twoPrices(item) { return problem }
        guard item["effective"]?.isText(Effective.later) ?? false, item["proratedPrice"] != nil else { return nil }
        return AdvancedCommerceProblem(
            ".proratedPrice",
            .invalidProratedPriceForChangeItemWithEffectiveLater,
            "must be left out: the change is effective at the next billing cycle"
        )
    }

    /// An item that a request only names.
    static func namedItem(_ name: String) -> AdvancedCommerceObject {
        AdvancedCommerceObject(name, [AdvancedCommerceField("SKU", .sku, missing: .nullSKU)])
    }

    static let modifyDescriptors = changedDescriptors("SubscriptionModifyDescriptors")

    static let modifyPeriodChange = AdvancedCommerceObject(
        "SubscriptionModifyPeriodChange",
        [
            AdvancedCommerceField("effective", .effective, missing: .nullEffective),
            AdvancedCommerceField("period", .period, missing: .nullPeriod),
        ]
    )

    private static let offer = AdvancedCommerceObject(
        "Offer",
        [
            AdvancedCommerceField("period", .offerPeriod, missing: .nullOfferPeriod),
            AdvancedCommerceField("periodCount", .periodCount, missing: .nullPeriodCount),
            AdvancedCommerceField("price", .price, missing: .nullPrice),
            AdvancedCommerceField("reason", .offerReason, missing: .nullReason),
        ]
    ) { offer in
        guard offer["price"]?.int64 == 0, offer["periodCount"]?.int64 != 1 else { return nil }
        let detail = "must be 1 for a free trial"
        return AdvancedCommerceProblem(".periodCount", .freeTrialOfferMustUsePeriodCountOfOne, detail)
    }

    /// The members of an item that is sold.
    private static let newItem = [
        AdvancedCommerceField("SKU", .sku, missing: .nullSKU),
        AdvancedCommerceField("description", .description, missing: .nullDescription),
        AdvancedCommerceField("displayName", .displayName, missing: .nullDisplayName),
        AdvancedCommerceField("price", .price, missing: .nullPrice),
    ]

    @Sendable
    private static func offerPrice(_ item: JSONElement) -> AdvancedCommerceProblem? {
        guard let price = item["price"]?.int64,
            let offered = item["offer"]?["price"]?.int64, offered > price
        else { return nil }
        return AdvancedCommerceProblem(".offer.price", .invalidOfferPrice, "is higher than the item's price")
    }

    @Sendable
    private static func twoPrices(_ item: JSONElement) -> AdvancedCommerceProblem? {
        guard item["offer"] != nil, item["proratedPrice"] != nil else { return nil }
        return AdvancedCommerceProblem("", .multiplePrices, "has offer and proratedPrice; give one of both")
    }
}
