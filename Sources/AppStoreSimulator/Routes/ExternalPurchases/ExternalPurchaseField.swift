import StrictJSON

/// The members of Apple's line items and their types.
///
/// Source: OneTimeBuyLineItem, SubscriptionBuyLineItem, RefundLineItem, External Purchase Server API, read 2026-11.
enum ExternalPurchaseField {
    static let texts: Set<String> = [
        "lineItemId", "eventType", "productType", "productIdentifier", "reportingCurrency", "pricingCurrency",
        "taxCountry",
        "referenceLineItemId", "subscriptionEvent",
    ]
    static let integers: Set<String> = [
        "creationDate", "quantity", "amountTaxInclusive", "amountTaxExclusive", "taxAmount", "netAmountTaxExclusive",
        "subscriptionStartDate", "subscriptionEndDate", "subscriptionDaysOfPaidService",
    ]
    static let flags: Set<String> = ["restatement", "erroneouslySubmitted"]

    static let ofEveryLine = [
        "lineItemId", "creationDate", "eventType", "amountTaxInclusive", "amountTaxExclusive", "taxAmount",
        "netAmountTaxExclusive", "reportingCurrency", "pricingCurrency", "taxCountry",
    ]
    static let ofPurchases = ["productType", "productIdentifier", "quantity"]
    static let ofSubscriptions = [
        "subscriptionEvent", "subscriptionStartDate", "subscriptionEndDate", "subscriptionDaysOfPaidService",
    ]

    private static let statuses = ["LINE_ITEM", "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"]
    private static let words: [String: Set<String>] = [
        "eventType": ["BUY", "REFUND"], "productType": ["ONE_TIME_BUY", "SUBSCRIPTION"],
        "subscriptionEvent": ["SUBSCRIPTION_START", "RENEWAL", "SUBSCRIPTION_CHANGE", "SUBSCRIPTION_PAYMENT"],
    ]

    /// Whether every member of a report has the type that Apple documents, and every word is one of Apple's.
    static func haveTypes(in report: JSONObject) -> Bool {
        for key in ["requestIdentifier", "externalPurchaseId"] {
            if let value = report[key], value.string == nil { return false }
        }
        if let status = report["status"] {
            guard let text = status.string, statuses.contains(text) else { return false }
        }
        guard let lines = report["lineItems"] else { return true }
        return lines.array?.allSatisfy { $0.object?.members.allSatisfy { hasType($0.key, $0.value) } ?? false } ?? false
    }

    private static func hasType(_ key: String, _ value: JSONValue) -> Bool {
        if let words = words[key] { return value.string.map(words.contains) ?? false }
        if texts.contains(key) { return value.string != nil }
        if integers.contains(key) { return value.number?.int64 != nil }
        return flags.contains(key) ? value.bool != nil : key == "exchangeRate" && value.number != nil
    }
}
