package import StrictJSON

/// An Advanced Commerce request that an app passes to StoreKit in a signed form.
///
/// Source: Advanced Commerce API 1.2, OneTimeChargeCreateRequest, SubscriptionCreateRequest, SubscriptionModifyInAppRequest and
/// SubscriptionReactivateInAppRequest, read 2026-11.
package enum InAppRequest: String, CaseIterable, Sendable {
    case createOneTimeCharge = "CREATE_ONE_TIME_CHARGE"
    case createSubscription = "CREATE_SUBSCRIPTION"
    case modifySubscription = "MODIFY_SUBSCRIPTION"
    case reactivateSubscription = "REACTIVATE_SUBSCRIPTION"

    /// Checks a request by Apple's rules for its operation.
    ///
    /// - Throws: The first rule that the request breaks.
    @discardableResult
    package static func check(_ request: JSONElement) throws(AdvancedCommerceProblem) -> InAppRequest {
        var unknown: UnknownMembers?
        return try check(request, counting: &unknown)
    }

    /// Checks a request as ``check(_:)`` does, except for members that Apple does not document.
    ///
    /// - Parameter unknown: Counts these members; `nil` refuses them.
    /// - Throws: The first rule that the request breaks.
    @discardableResult
    package static func check(
        _ request: JSONElement,
        counting unknown: inout UnknownMembers?
    ) throws(AdvancedCommerceProblem) -> InAppRequest {
        guard request.isObject else {
            throw AdvancedCommerceProblem("the request", AdvancedCommerceProblem.wrongType, "must be an object")
        }
        guard let place = request["operation"]?.place(in: operations) else {
            let words = operations.keys.joined(separator: ", ")
            let found = request["operation"] == nil ? "is missing" : "is not an operation of Apple's"
            throw AdvancedCommerceProblem("operation", .invalidOperation, "\(found); it must be \(words)")
        }
        for list in ["addItems", "changeItems"] {
            guard let items = request[list], items.isArray, items.isEmpty else { continue }
            throw AdvancedCommerceProblem(list, .emptyAddChangeItems, "is empty; leave it out")
        }
        let operation = allCases[place]
        do throws(AdvancedCommerceProblem) {
            try operation.object.check(request, &unknown)
        } catch {
            throw error.inRequest()
        }
        return operation
    }

    private static let operations = KeyTable(allCases.map(\.rawValue))

    private var object: AdvancedCommerceObject {
        switch self {
        case .createOneTimeCharge: Self.oneTimeCharge
        case .createSubscription: Self.subscription
        case .modifySubscription: Self.modification
        case .reactivateSubscription: Self.reactivation
        }
    }

    /// The members that every request has.
    private var common: [AdvancedCommerceField] {
        [
            AdvancedCommerceField(
                "operation",
                .word(KeyTable([rawValue]), invalid: .invalidOperation),
                missing: .invalidOperation
            ),
            AdvancedCommerceField(
                "version",
                .word(KeyTable(["1"]), invalid: .unexpectedVersion),
                missing: .nullVersion
            ),
            AdvancedCommerceField("requestInfo", .object(.inAppRequestInfo), missing: .nullRequestInfo),
            AdvancedCommerceField("storefront", .storefront),
        ]
    }

    private static let transactionId = AdvancedCommerceField(
        "transactionId",
        .transactionID(invalid: .invalidTransactionId),
        missing: .nullTransactionId
    )

    private static let oneTimeCharge = AdvancedCommerceObject(
        "OneTimeChargeCreateRequest",
        createOneTimeCharge.common + [
            AdvancedCommerceField("currency", .currency, missing: .nullCurrency),
            AdvancedCommerceField("item", .object(.oneTimeChargeItem), missing: .nullItem),
            AdvancedCommerceField("taxCode", .taxCode, missing: .nullTaxCode),
        ]
    ) { request in
        consistencyToken(of: request, isAllowed: false, "a one-time charge has none")
    }

    private static let subscription = AdvancedCommerceObject(
        "SubscriptionCreateRequest",
        createSubscription.common + [
            AdvancedCommerceField("currency", .currency, missing: .nullCurrency),
            AdvancedCommerceField("descriptors", .object(.descriptors), missing: .nullDescriptors),
            AdvancedCommerceField("items", .objects(.createItem), missing: .nullItems),
            AdvancedCommerceField("period", .period, missing: .nullPeriod),
            AdvancedCommerceField(
                "previousTransactionId",
                .transactionID(invalid: .invalidPreviousTransactionID)
            ),
            AdvancedCommerceField("taxCode", .taxCode, missing: .nullTaxCode),
        ]
    ) { request in
        let isRenewed = request["previousTransactionId"] != nil
        return AdvancedCommerceProblem.repeatedSKU(in: request["items"], at: ".items")
            ?? consistencyToken(of: request, isAllowed: isRenewed, "it needs previousTransactionId")
    }

    private static let modification = AdvancedCommerceObject(
        "SubscriptionModifyInAppRequest",
        modifySubscription.common + [
            transactionId,
            AdvancedCommerceField("addItems", .objects(.modifyAddItem)),
            AdvancedCommerceField("changeItems", .objects(.modifyChangeItem)),
            AdvancedCommerceField("removeItems", .objects(.namedItem("SubscriptionModifyRemoveItem"))),
            AdvancedCommerceField("currency", .currency),
            AdvancedCommerceField("descriptors", .object(.modifyDescriptors)),
            AdvancedCommerceField("periodChange", .object(.modifyPeriodChange)),
            AdvancedCommerceField("retainBillingCycle", .boolean, missing: .nullRetainBillingCycle),
            AdvancedCommerceField("taxCode", .taxCode),
        ]
    ) { request in
        ModifiedItems(request).problem
    }

    private static let reactivation = AdvancedCommerceObject(
        "SubscriptionReactivateInAppRequest",
        reactivateSubscription.common + [
            transactionId,
            AdvancedCommerceField("items", .objects(.namedItem("SubscriptionReactivateItem"))),
        ]
    ) { request in
        AdvancedCommerceProblem.repeatedSKU(in: request["items"], at: ".items")
    }

    /// Apple says where a consistency token must be left out.
    private static func consistencyToken(
        of request: JSONElement,
        isAllowed: Bool,
        _ reason: String
    ) -> AdvancedCommerceProblem? {
        guard !isAllowed, request["requestInfo"]?["consistencyToken"] != nil else { return nil }
        let path = ".requestInfo.consistencyToken"
        return AdvancedCommerceProblem(path, .invalidConsistencyToken, "must be left out: \(reason)")
    }
}
