package import StrictJSON

/// The error codes of the External Purchase Server API, with Apple's names.
///
/// An answer can contain a code that is not in this list. 9, 26, 37, 38 and 40 are inferred: Apple names these errors, and no copy of
/// its pages shows their numbers. Source: External Purchase Server API 1.2, SendReportErrorResponse, read 2026-11.
package enum ExternalPurchaseError: Int64, CaseIterable, Sendable {
    case duplicateValue = 1
    case reportingCurrencyMismatch, notFound, omittedField, fieldNotAllowed, futureDate, unknownEnum
    case lineItemStatusRegression, missingLineItemsForStatus, lineItemsNotAllowedForStatus
    case incorrectAmountTaxInclusive, incorrectNetAmount, selfReference, referenceInvalidSubscriptionEvent
    case negativeValueNotAllowed, positiveValueRequired, startDateAfterEndDate, reportingCurrencyExchangeNotAllowed
    case maximumLengthExceeded, erroneouslySubmittedNotRestatement, referenceLineItemNotABuy
    case erroneousLineItemReferencedByValidLineItem, taxCountryMismatch, netAmountMismatch
    case validLineItemReferencesErroneousLineItem, simultaneousSubmission, dateTooFarInPast, refundReferencedByRefund
    case nonInitialBuyReferencedByBuy, repeatErroneousSubmission, referencedCreationDateIncompatible
    case pricingCurrencyMismatch, exchangeRateMismatch, subscriptionStartNonZeroDaysPaidService
    case invalidTaxInclusiveAmountForSubscriptionPayment, lineItemCreationDateOutOfRange
    case duplicateTokenStatusNotAllowed, restatementCreationDateMismatch, restatementNotAllowedCreationDate
    case refundNotAllowedCreationDate

    /// Apple's name, such as `DuplicateValueError`.
    package var objectName: String {
        let name = String(describing: self)
        return "\(name.prefix(1).uppercased())\(name.dropFirst())Error"
    }
}

/// Apple's errors in the 400 answer to an external purchase report.
///
/// Apple takes either the whole report or nothing of it. Source: SendReportErrorResponse, read 2026-11.
package struct ExternalPurchaseErrors: Equatable, Sendable {
    package struct Element: Equatable, Sendable {
        package let code: Int64
        package let message: String
        package let field: String?
        /// `nil` for an error of the report as a whole.
        package let lineItemID: String?

        package func isA(_ error: ExternalPurchaseError) -> Bool { code == error.rawValue }

        fileprivate init?(_ json: JSONValue) {
            guard let object = json.object, let code = object["errorCode"]?.number?.int64 else { return nil }
            self.code = code
            message = object["errorMessage"]?.string ?? ""
            field = object["fieldName"]?.string
            lineItemID = object["lineItemId"]?.string
        }
    }

    /// At least one.
    package let elements: [Element]
    /// `errors` as Apple sent it.
    package let json: JSONValue

    /// Reads `errors`, or an error that stands alone; `nil` for a body that has neither.
    package init?(_ body: [UInt8]) {
        let limit = ExternalPurchaseReport.sizeLimit
        guard let object = try? StrictJSON.parseObject(body, sizeLimit: limit) else { return nil }
        // A greater code is an error of the App Store Server API.
        let alone = Element(.object(object)).flatMap { $0.code < 10_000 ? JSONValue.array([.object(object)]) : nil }
        guard let list = object["errors"] ?? alone, let values = list.array else { return nil }
        elements = values.compactMap(Element.init)
        guard !elements.isEmpty else { return nil }
        json = list
    }

    /// Whether `error` is about the report as a whole, and not about one of its lines.
    package func ofReport(_ error: ExternalPurchaseError) -> Bool {
        elements.contains { $0.isA(error) && $0.lineItemID == nil && $0.field != "lineItemId" }
    }

    package func contains(_ error: ExternalPurchaseError) -> Bool { elements.contains { $0.isA(error) } }
}
