package import StrictJSON

/// The objects inside the bodies of the Advanced Commerce server requests.
extension AdvancedCommerceObject {
    /// The name and description of a subscription, or of one that a subscription migrates to.
    package static let descriptors = AdvancedCommerceObject(
        "Descriptors",
        [
            AdvancedCommerceField("description", .description, missing: .nullDescription),
            AdvancedCommerceField("displayName", .displayName, missing: .nullDisplayName),
        ]
    )

    package static let changeMetadataDescriptors = changedDescriptors("SubscriptionChangeMetadataDescriptors")

    /// A new name, a new description or both.
    static func changedDescriptors(_ name: String) -> AdvancedCommerceObject {
        AdvancedCommerceObject(
            name,
            [
                AdvancedCommerceField("description", .description),
                AdvancedCommerceField("displayName", .displayName),
                AdvancedCommerceField("effective", .effective, missing: .nullEffective),
            ]
        ) { object in
            guard object["displayName"] == nil, object["description"] == nil else { return nil }
            let detail = "has neither displayName nor description"
            return AdvancedCommerceProblem("", .atLeastOneOfDisplayNameOrDescription, detail)
        }
    }

    package static let changeMetadataItem = AdvancedCommerceObject(
        "SubscriptionChangeMetadataItem",
        [
            AdvancedCommerceField("currentSKU", .currentSKU, missing: .nullCurrentSKU),
            AdvancedCommerceField("SKU", .sku),
            AdvancedCommerceField("description", .description),
            AdvancedCommerceField("displayName", .displayName),
            AdvancedCommerceField("effective", .effective, missing: .nullEffective),
        ]
    ) { object in
        guard object["SKU"] == nil, object["displayName"] == nil, object["description"] == nil else { return nil }
        let detail = "has none of SKU, displayName and description"
        return AdvancedCommerceProblem("", .atLeastOneOfDisplayNameOrDescription, detail)
    }

    package static let priceChangeItem = AdvancedCommerceObject(
        "SubscriptionPriceChangeItem",
        [
            AdvancedCommerceField("SKU", .sku, missing: .nullSKU),
            AdvancedCommerceField("dependentSKUs", .texts(of: .sku)),
            AdvancedCommerceField("price", .price, missing: .nullPrice),
        ]
    )

    package static let migrateItem = AdvancedCommerceObject(
        "SubscriptionMigrateItem",
        [
            AdvancedCommerceField("SKU", .sku, missing: .nullSKU),
            AdvancedCommerceField("description", .description, missing: .nullDescription),
            AdvancedCommerceField("displayName", .displayName, missing: .nullDisplayName),
        ]
    )

    package static let refundItem = AdvancedCommerceObject(
        "RequestRefundItem",
        [
            AdvancedCommerceField("SKU", .sku, missing: .nullSKU),
            AdvancedCommerceField("refundAmount", .refundAmount),
            AdvancedCommerceField("refundReason", .refundReason, missing: .nullRefundReason),
            AdvancedCommerceField("refundType", .refundType, missing: .nullRefundType),
            // Apple documents no error for a missing one.
            AdvancedCommerceField("revoke", .boolean, missing: nil),
        ]
    ) { object in
        let isCustom = object["refundType"]?.isText("CUSTOM") ?? false
        switch (isCustom, object["refundAmount"]) {
        case (true, nil):
            return AdvancedCommerceProblem(
                ".refundAmount",
                .nullRefundAmount,
                "is missing; a CUSTOM refund needs it"
            )
        case (false, _?):
            let detail = "is only for a CUSTOM refund"
            return AdvancedCommerceProblem(".refundAmount", .refundAmountWithoutCustom, detail)
        default: return nil
        }
    }
}

/// Rules that the items of one request share.
///
/// Each of them takes the list of items and its path.
extension AdvancedCommerceProblem {
    /// An SKU that two items of a list have in the member `key`.
    package static func repeatedSKU(in items: JSONElement?, key: String = "SKU", at path: String = "items") -> Self? {
        guard let place = items?.firstRepetition(of: key) else { return nil }
        let detail = "is the same as in an earlier item"
        return Self("\(path)[\(place)].\(key)", .itemCannotBeSpecifiedMultipleTimes, detail)
    }

    /// A dependent SKU that two items of a price change have, or that has dependent SKUs itself.
    package static func wrongDependents(in items: JSONElement?, at path: String = "items") -> Self? {
        let items = (items?.array ?? []).map { item in
            (sku: item["SKU"]?.string, dependents: (item["dependentSKUs"]?.array ?? []).compactMap(\.string))
        }
        let parents = Set(items.filter { !$0.dependents.isEmpty }.compactMap(\.sku).map(ExactText.init))
        var seen: Set<ExactText> = []
        for (place, item) in items.enumerated() {
            for (index, sku) in item.dependents.enumerated() {
                let name = "\(path)[\(place)].dependentSKUs[\(index)]"
                if parents.contains(ExactText(sku)) {
                    return Self(name, .dependentSKUsCannotBeChained, "has dependent SKUs itself")
                }
                guard seen.insert(ExactText(sku)).inserted else {
                    return Self(name, .dependentSKUsCannotBeShared, "already depends on an earlier item")
                }
            }
        }
        return nil
    }

    /// A mix of simulated and real refund reasons.
    package static func mixedSimulation(in items: JSONElement?, at path: String = "items") -> Self? {
        let isSimulated = (items?.array ?? []).map { $0["refundReason"]?.isText("SIMULATE_REFUND_DECLINE") ?? false }
        guard isSimulated.contains(true), isSimulated.contains(false) else { return nil }
        let detail = "have SIMULATE_REFUND_DECLINE and other reasons; all or none must have it"
        return Self(path, .partialSimulateRefundDecline, detail)
    }
}
