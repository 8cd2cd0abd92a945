import AppStoreModel
import StrictJSON

/// The rules of one line of an external purchase report that need no other line and no clock.
///
/// Source: OneTimeBuyLineItem, SubscriptionBuyLineItem, RefundLineItem, External Purchase Server API 1.2, read 2026-11.
struct ExternalPurchaseLine {
    typealias Problem = (rule: String, reason: String)

    private static let amount = ActionColumn.Kind.integer(0...Int64.max)
    private static let events = ["SUBSCRIPTION_START", "RENEWAL", "SUBSCRIPTION_CHANGE", "SUBSCRIPTION_PAYMENT"]

    /// The fields of Apple's line items in snake_case, in the order in which they are sent.
    static let columns = [
        ActionColumn("line_item_id", .text(128)),
        ActionColumn("creation_date", .moment),
        ActionColumn("event_type", .choice(["BUY", "REFUND"])),
        ActionColumn("product_type", .choice(["ONE_TIME_BUY", "SUBSCRIPTION"])),
        ActionColumn("product_identifier", .text(256)),
        ActionColumn("quantity", .integer(1...Int64.max)),
        ActionColumn("amount_tax_inclusive", amount),
        ActionColumn("amount_tax_exclusive", amount),
        ActionColumn("tax_amount", amount),
        ActionColumn("net_amount_tax_exclusive", amount),
        ActionColumn("reporting_currency", .choice(ExternalPurchaseCurrency.reporting)),
        ActionColumn("pricing_currency", .currency),
        ActionColumn("exchange_rate", .rate),
        ActionColumn("tax_country", .country),
        ActionColumn("reference_line_item_id", .text(128)),
        ActionColumn("subscription_event", .choice(events)),
        ActionColumn("subscription_start_date", .moment),
        ActionColumn("subscription_end_date", .moment),
        ActionColumn("subscription_days_of_paid_service", .integer(0...Int64(Int32.max))),
        ActionColumn("restatement", .boolean),
        ActionColumn("erroneously_submitted", .boolean),
    ]

    private static let ofEveryLine = [
        "line_item_id", "creation_date", "event_type", "amount_tax_inclusive", "amount_tax_exclusive", "tax_amount",
        "net_amount_tax_exclusive", "reporting_currency", "pricing_currency", "tax_country",
    ]
    private static let ofPurchases = ["product_type", "product_identifier", "quantity"]
    private static let ofSubscriptions = [
        "subscription_event", "subscription_start_date", "subscription_end_date", "subscription_days_of_paid_service",
    ]

    private let row: ActionParameters

    init(_ row: ActionParameters) { self.row = row }

    /// The first rule that the line breaks; `nil` if there is none.
    var problem: Problem? { fieldProblem ?? amountProblem ?? currencyProblem ?? subscriptionProblem ?? markProblem }

    private var isRefund: Bool { row.text("event_type") == "REFUND" }
    private var isSubscription: Bool { row.text("product_type") == "SUBSCRIPTION" }

    /// What the line is, for messages.
    private var kind: String {
        if isRefund { return "a refund" }
        return isSubscription ? "the purchase of a subscription" : "a one-time purchase"
    }

    /// A field that is missing, or that the line must not have.
    private var fieldProblem: Problem? {
        guard Self.columns.contains(where: { row[$0.name] != nil }) else {
            return Self.problem(.missingLineItemsForStatus, "a row with the status LINE_ITEM needs a line item")
        }
        let required =
            Self.ofEveryLine + (isRefund ? ["reference_line_item_id"] : Self.ofPurchases)
            + (isSubscription ? Self.ofSubscriptions : [])
        if let missing = required.first(where: { row[$0] == nil }) {
            return Self.problem(.omittedField, "\(missing) is missing; \(kind) needs it")
        }
        let forbidden = isRefund ? Self.ofPurchases + Self.ofSubscriptions : isSubscription ? [] : Self.ofSubscriptions
        let isPlain = !isRefund && !isSubscription
        if let extra = (forbidden + (isPlain ? ["reference_line_item_id"] : [])).first(where: { row[$0] != nil }) {
            return Self.problem(.fieldNotAllowed, "\(extra) has a value; \(kind) must not have it")
        }
        guard row.text("reference_line_item_id") != row.text("line_item_id") else {
            let id = row.text("line_item_id") ?? ""
            return Self.problem(.selfReference, "reference_line_item_id is \(id), the line_item_id of the same row")
        }
        return nil
    }

    private var amountProblem: Problem? {
        let exclusive = amount("amount_tax_exclusive")
        let inclusive = amount("amount_tax_inclusive")
        let tax = amount("tax_amount")
        let net = amount("net_amount_tax_exclusive")
        guard case (let sum, false) = exclusive.addingReportingOverflow(tax), sum == inclusive else {
            return Self.problem(
                .incorrectAmountTaxInclusive,
                "amount_tax_inclusive is \(inclusive); it must be amount_tax_exclusive + tax_amount, \(exclusive) + \(tax)"
            )
        }
        guard isRefund || net <= exclusive else {
            return Self.problem(
                .incorrectNetAmount,
                "net_amount_tax_exclusive is \(net); it must not be more than amount_tax_exclusive, \(exclusive)"
            )
        }
        return nil
    }

    private var currencyProblem: Problem? {
        let (reporting, pricing) = (row.text("reporting_currency") ?? "", row.text("pricing_currency") ?? "")
        guard ExternalPurchaseCurrency.isAllowed(reporting, for: pricing) else {
            let isListed = ExternalPurchaseCurrency.reporting.contains(pricing)
            return Self.problem(
                .reportingCurrencyExchangeNotAllowed,
                "reporting_currency is \(reporting); it must be \(isListed ? pricing : "EUR or USD") if pricing_currency is \(pricing)"
            )
        }
        switch (reporting == pricing, row["exchange_rate"] == nil) {
        case (true, false):
            return Self.problem(
                .fieldNotAllowed,
                "exchange_rate has a value; it must not if reporting_currency and pricing_currency are both \(pricing)"
            )
        case (false, true):
            return Self.problem(
                .omittedField,
                "exchange_rate is missing; it is needed from \(pricing) (pricing_currency) to \(reporting)"
            )
        default: return nil
        }
    }

    private var subscriptionProblem: Problem? {
        guard isSubscription, let event = row.text("subscription_event") else { return nil }
        let (start, end) = (amount("subscription_start_date"), amount("subscription_end_date"))
        guard start < end else {
            return Self.problem(
                .startDateAfterEndDate,
                "subscription_end_date is \(end); it must be after subscription_start_date, \(start)"
            )
        }
        let days = amount("subscription_days_of_paid_service")
        guard event != "SUBSCRIPTION_START" || days == 0 else {
            return Self.problem(
                .subscriptionStartNonZeroDaysPaidService,
                "subscription_days_of_paid_service is \(days); it must be 0 for SUBSCRIPTION_START"
            )
        }
        guard event != "SUBSCRIPTION_PAYMENT" || amount("amount_tax_inclusive") > 0 else {
            return Self.problem(
                .invalidTaxInclusiveAmountForSubscriptionPayment,
                "amount_tax_inclusive is 0; it must be above 0 for SUBSCRIPTION_PAYMENT"
            )
        }
        return nil
    }

    private var markProblem: Problem? {
        guard row.boolean("erroneously_submitted") == true, row.boolean("restatement") != true else { return nil }
        return Self.problem(
            .erroneouslySubmittedNotRestatement,
            "erroneously_submitted is true; it must not be unless restatement is true"
        )
    }

    private func amount(_ column: String) -> Int64 { row.integer(column) ?? 0 }

    /// A problem with Apple's name and number of the error that the report would get.
    static func problem(_ error: ExternalPurchaseError, _ reason: String) -> Problem {
        (error.objectName, "\(reason) (Apple's \(error.rawValue))")
    }
}
