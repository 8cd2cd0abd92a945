import StrictJSON

/// When a requested change of a subscription takes effect.
enum Effective {
    static let now = "IMMEDIATELY"
    static let later = "NEXT_BILL_CYCLE"
}

/// The changes in one SubscriptionModifyInAppRequest, and the combinations that Apple refuses.
///
/// Apple's own examples remove items without adding or changing others, so the rule of RemoveItemsWithoutAddOrChangeItemsError
/// (4000144) is left to Apple.
struct ModifiedItems {
    private let request: JSONElement
    private let changed: [JSONElement]

    init(_ request: JSONElement) {
        self.request = request
        changed = request["changeItems"]?.array ?? []
    }

    /// The first rule that the changes break.
    var problem: AdvancedCommerceProblem? {
        let keys = ["addItems", "changeItems", "removeItems", "periodChange", "descriptors", "taxCode"]
        guard keys.contains(where: { request[$0] != nil }) else {
            return AdvancedCommerceProblem("", .oneItemNeededInModify, "changes nothing")
        }
        return repeatedItem ?? periodConflict
    }

    private var repeatedItem: AdvancedCommerceProblem? {
        if let problem = AdvancedCommerceProblem.repeatedSKU(in: request["addItems"], at: ".addItems")
            ?? AdvancedCommerceProblem.repeatedSKU(in: request["removeItems"], at: ".removeItems")
        {
            return problem
        }
        // The items that the subscription has now.
        var targets: Set<ExactText> = []
        let removed = request["removeItems"]?.array ?? []
        for (items, key, list) in [(changed, "currentSKU", ".changeItems"), (removed, "SKU", ".removeItems")] {
            for (place, item) in items.enumerated() {
                guard let sku = item[key]?.string, !targets.insert(ExactText(sku)).inserted else { continue }
                let detail = "is the target of another change in this request"
                return AdvancedCommerceProblem("\(list)[\(place)].\(key)", .multipleOperationsOnSingleSKU, detail)
            }
        }
        return nil
    }

    private var periodConflict: AdvancedCommerceProblem? {
        let period = request["periodChange"]?["effective"]?.string
        let addsNothing = request["addItems"] == nil
        let retains = request["retainBillingCycle"]?.bool ?? false
        let laterChange = changed.firstIndex { $0["effective"]?.isText(Effective.later) ?? false }
        if period == Effective.now, retains {
            let detail = "is true, but periodChange begins a new billing cycle immediately"
            return AdvancedCommerceProblem(".retainBillingCycle", .periodResetWithRetainBillingCycle, detail)
        }
        if period == Effective.now, let laterChange {
            let detail = "is NEXT_BILL_CYCLE, but periodChange is effective immediately"
            let path = ".changeItems[\(laterChange)].effective"
            return AdvancedCommerceProblem(path, .periodChangeImmediateWithEffectiveAtNextBillingCycle, detail)
        }
        if period == Effective.later, !addsNothing {
            let detail = "is NEXT_BILL_CYCLE, but addItems adds items to the current period"
            return AdvancedCommerceProblem(".periodChange.effective", .periodChangeEffectiveConflict, detail)
        }
        let isOnlyLater = changed.allSatisfy { $0["effective"]?.isText(Effective.later) ?? false }
        if !retains, period == nil, addsNothing, !changed.isEmpty, isOnlyLater {
            let detail = "is false, but every change is effective at the next billing cycle"
            return AdvancedCommerceProblem(".retainBillingCycle", .billingCycleResetWithEffectiveLater, detail)
        }
        return nil
    }
}
