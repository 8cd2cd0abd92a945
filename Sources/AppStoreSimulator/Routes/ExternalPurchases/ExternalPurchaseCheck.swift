import AppStoreModel
import Basics
import StrictJSON

/// Finds everything for which Apple refuses a report.
///
/// Source: the error pages of the External Purchase Server API 1.2, read 2026-11.
struct ExternalPurchaseCheck {
    private(set) var errors: [ReportError] = []
    let known: ExternalPurchases
    /// The lines of the report by ID.
    let lines: [String: ReportedLine]
    let token: SimulatedPurchaseToken?
    /// In milliseconds since 1970.
    let now: Int64

    static let year = 365 * Moment.day

    init(_ report: JSONObject, _ known: ExternalPurchases, at now: Int64) {
        self.known = known
        self.now = now
        let all = ReportedLine.all(in: report)
        lines = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        token = report["externalPurchaseId"]?.string.flatMap { known.tokens[$0] }
        checkReport(report, all)
        var seen: Set<String> = []
        for line in all {
            if line.has("lineItemId"), !seen.insert(line.id).inserted { add(.duplicateValue, "lineItemId", line) }
            let count = errors.count
            checkFields(line)
            // What follows needs the fields.
            guard errors.count == count else { continue }
            checkAmounts(line)
            checkDates(line)
            checkSubscription(line)
            checkVersion(line)
            checkReference(line)
        }
    }

    mutating func add(_ error: ExternalPurchaseError, _ field: String?, _ line: ReportedLine? = nil) {
        errors.append(ReportError(error, field: field, line: line))
    }

    private mutating func checkReport(_ report: JSONObject, _ lines: [ReportedLine]) {
        for field in ["requestIdentifier", "externalPurchaseId", "status"] where report[field] == nil {
            add(.omittedField, field)
        }
        if let id = report["requestIdentifier"]?.string, UUIDText.bytes(of: id) == nil {
            add(.notFound, "requestIdentifier")
        }
        if report["externalPurchaseId"] != nil, token == nil { add(.notFound, "externalPurchaseId") }
        guard let status = report["status"]?.string else { return }
        guard status != "LINE_ITEM" else {
            if lines.isEmpty { add(.missingLineItemsForStatus, "status") }
            return
        }
        if report["lineItems"] != nil { add(.lineItemsNotAllowedForStatus, "status") }
        if let token, status == "DUPLICATE_TOKEN", !["ACQUISITION", "SERVICES"].contains(token.type ?? "") {
            add(.duplicateTokenStatusNotAllowed, "status")
        } else if let token, status != "DUPLICATE_TOKEN", known.tokensWithLines.contains(token.id) {
            add(.lineItemStatusRegression, "status")
        }
    }

    private mutating func checkFields(_ line: ReportedLine) {
        let required =
            ExternalPurchaseField.ofEveryLine
            + (line.isRefund ? ["referenceLineItemId"] : ExternalPurchaseField.ofPurchases)
            + (line.isSubscription ? ExternalPurchaseField.ofSubscriptions : [])
        for field in required where !line.has(field) { add(.omittedField, field, line) }
        var forbidden = line.isRefund ? ExternalPurchaseField.ofPurchases : []
        if line.isRefund || !line.isSubscription { forbidden += ExternalPurchaseField.ofSubscriptions }
        if !line.isRefund, !line.isSubscription { forbidden.append("referenceLineItemId") }
        for field in forbidden where line.has(field) { add(.fieldNotAllowed, field, line) }
        for (field, most) in [
            ("lineItemId", 128), ("referenceLineItemId", 128), ("pricingCurrency", 128), ("productIdentifier", 256),
        ] where (line.text(field) ?? "").count > most {
            add(.maximumLengthExceeded, field, line)
        }
        if let rate = line.json["exchangeRate"]?.number {
            if rate.text.utf8.count > 128 { add(.maximumLengthExceeded, "exchangeRate", line) }
            if (Double(rate.text) ?? 0) <= 0 { add(.positiveValueRequired, "exchangeRate", line) }
        }
        if let quantity = line.integer("quantity"), quantity <= 0 { add(.positiveValueRequired, "quantity", line) }
        for field in [
            "amountTaxInclusive", "amountTaxExclusive", "taxAmount", "netAmountTaxExclusive",
            "subscriptionDaysOfPaidService",
        ] where (line.integer(field) ?? 0) < 0 {
            add(.negativeValueNotAllowed, field, line)
        }
    }

    private mutating func checkAmounts(_ line: ReportedLine) {
        func amount(_ field: String) -> Int64 { line.integer(field) ?? 0 }
        let (sum, isTooMuch) = amount("amountTaxExclusive").addingReportingOverflow(amount("taxAmount"))
        if isTooMuch || sum != amount("amountTaxInclusive") {
            add(.incorrectAmountTaxInclusive, "amountTaxInclusive", line)
        }
        if !line.isRefund, amount("netAmountTaxExclusive") > amount("amountTaxExclusive") {
            add(.incorrectNetAmount, "netAmountTaxExclusive", line)
        }
        let (reporting, pricing) = (line.text("reportingCurrency") ?? "", line.text("pricingCurrency") ?? "")
        if !ExternalPurchaseCurrency.reporting.contains(reporting) {
            add(.unknownEnum, "reportingCurrency", line)
        } else if !ExternalPurchaseCurrency.isAllowed(reporting, for: pricing) {
            add(.reportingCurrencyExchangeNotAllowed, "reportingCurrency", line)
        } else if (reporting != pricing) != line.has("exchangeRate") {
            add(reporting == pricing ? .fieldNotAllowed : .omittedField, "exchangeRate", line)
        }
        if !CountryCode.all.contains(line.text("taxCountry") ?? "") { add(.unknownEnum, "taxCountry", line) }
    }

    private mutating func checkDates(_ line: ReportedLine) {
        let created = line.integer("creationDate") ?? 0
        if created > now { add(.futureDate, "creationDate", line) }
        for field in ["creationDate", "subscriptionStartDate", "subscriptionEndDate"] {
            if let date = line.integer(field), date < now - 3 * Self.year { add(.dateTooFarInPast, field, line) }
        }
        if let token, !line.isRefund, created < token.creationDate || created > token.expirationDate ?? created {
            add(.lineItemCreationDateOutOfRange, "creationDate", line)
        }
    }

    private mutating func checkSubscription(_ line: ReportedLine) {
        guard line.isSubscription else { return }
        if (line.integer("subscriptionStartDate") ?? 0) >= (line.integer("subscriptionEndDate") ?? 0) {
            add(.startDateAfterEndDate, "subscriptionEndDate", line)
        }
        switch line.text("subscriptionEvent") {
        case "SUBSCRIPTION_START" where line.integer("subscriptionDaysOfPaidService") != 0:
            add(.subscriptionStartNonZeroDaysPaidService, "subscriptionDaysOfPaidService", line)
        case "SUBSCRIPTION_PAYMENT" where line.integer("amountTaxInclusive") == 0:
            add(.invalidTaxInclusiveAmountForSubscriptionPayment, "amountTaxInclusive", line)
        default: break
        }
    }
}
