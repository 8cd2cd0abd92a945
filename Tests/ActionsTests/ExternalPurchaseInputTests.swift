import ActionKinds
import AppStoreAPI
import AppStoreModel
import JobFiles
import StrictJSON
import Testing

@testable import Actions

/// Apple's rules for one line of an external purchase report, as the plan checks them in the cells of an input.
struct ExternalPurchaseInputTests {
    private static let oneTime = [
        "external_purchase_id": "t-1", "status": "LINE_ITEM", "line_item_id": "a",
        "creation_date": "2026-11-01T09:30:00Z", "event_type": "BUY", "product_type": "ONE_TIME_BUY",
        "product_identifier": "coins", "quantity": "1", "amount_tax_inclusive": "2990", "amount_tax_exclusive": "2500",
        "tax_amount": "490", "net_amount_tax_exclusive": "2500", "reporting_currency": "EUR", "pricing_currency": "EUR",
        "tax_country": "FRA",
    ]
    private static let refund = oneTime.merging(
        [
            "event_type": "REFUND", "product_type": "", "product_identifier": "", "quantity": "",
            "reference_line_item_id": "b",
        ]
    ) { $1 }
    private static let subscription = oneTime.merging(
        [
            "product_type": "SUBSCRIPTION", "subscription_event": "SUBSCRIPTION_START",
            "subscription_start_date": "1793525400000", "subscription_end_date": "1796117400000",
            "subscription_days_of_paid_service": "0",
        ]
    ) { $1 }

    private func row(_ cells: [String: String]) throws -> InputRow {
        let job = try TestJob.of("reportExternalPurchases: {}", name: "report")
        let names = ReportExternalPurchases.columns.map(\.name)
        return try InputHeader(names, of: "input.csv", for: job).row(1, line: 2, names.map { cells[$0] ?? "" })
    }

    private func expect(
        _ line: [String: String],
        _ changes: [String: String],
        _ problem: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let found = try row(line.merging(changes) { $1 }).problem.map { "\($0.rule): \($0.reason)" }
        #expect(found == problem, sourceLocation: location)
    }

    @Test func `a report has Apple's members in Apple's order, and dates in milliseconds`() throws {
        for line in [Self.oneTime, Self.refund, Self.subscription] { #expect(try row(line).problem == nil) }
        var line = try #require(row(Self.oneTime).parameters).json
        line.members.removeAll { ["external_purchase_id", "status"].contains($0.key) }
        // As PostgreSQL gives it back.
        line.members.sort { $0.key < $1.key }
        let stored = ActionParameters(
            JSONObject([
                .init(key: "external_purchase_id", value: .string("t-1")),
                .init(key: "status", value: .string("LINE_ITEM")),
                .init(key: "line_items", value: .array([.object(line)])),
            ]),
            columns: ReportExternalPurchases.storedColumns
        )
        let request = ReportExternalPurchases.request(stored, id: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(request.method == .put && request.target == "/externalPurchase/v1/reports")
        #expect(
            String(decoding: request.body ?? [], as: UTF8.self) == """
                {"requestIdentifier":"7e3fb20b-4cdb-47cc-936d-99d65f608138","externalPurchaseId":"t-1","status":"LINE_ITEM",\
                "lineItems":[{"lineItemId":"a","creationDate":1793525400000,"eventType":"BUY","productType":"ONE_TIME_BUY",\
                "productIdentifier":"coins","quantity":1,"amountTaxInclusive":2990,"amountTaxExclusive":2500,"taxAmount":490,\
                "netAmountTaxExclusive":2500,"reportingCurrency":"EUR","pricingCurrency":"EUR","taxCountry":"FRA"}]}
                """
        )
    }

    @Test func `EP1 a line has the fields that Apple wants, and no others`() throws {
        try expect(
            Self.oneTime,
            ["quantity": ""],
            "OmittedFieldError: quantity is missing; a one-time purchase needs it (Apple's 4)"
        )
        try expect(
            Self.refund,
            ["reference_line_item_id": ""],
            "OmittedFieldError: reference_line_item_id is missing; a refund needs it (Apple's 4)"
        )
        try expect(
            Self.refund,
            ["quantity": "1"],
            "FieldNotAllowedError: quantity has a value; a refund must not have it (Apple's 5)"
        )
        try expect(
            Self.oneTime,
            ["subscription_event": "RENEWAL"],
            "FieldNotAllowedError: subscription_event has a value; a one-time purchase must not have it (Apple's 5)"
        )
        try expect(
            ["external_purchase_id": "t", "status": "LINE_ITEM"],
            [:],
            "MissingLineItemsForStatusError: a row with the status LINE_ITEM needs a line item (Apple's 9)"
        )
        try expect(
            Self.oneTime,
            ["status": "NO_LINE_ITEM"],
            "LineItemsNotAllowedForStatusError: line_item_id has a value, and a row with the status NO_LINE_ITEM has no line item (Apple's 10)"
        )
        #expect(try row(["external_purchase_id": "t", "status": "DUPLICATE_TOKEN"]).problem == nil)
        try expect(["external_purchase_id": "t"], [:], "status: status is missing; it must be \(Self.statuses)")
    }

    private static let statuses = "LINE_ITEM, NO_LINE_ITEM, UNRECOGNIZED_TOKEN or DUPLICATE_TOKEN"

    @Test func `EP2 amounts add up, and none is negative`() throws {
        try expect(
            Self.oneTime,
            ["tax_amount": "491"],
            "IncorrectAmountTaxInclusiveError: amount_tax_inclusive is 2990; it must be amount_tax_exclusive + tax_amount, 2500 + 491 (Apple's 11)"
        )
        try expect(
            Self.oneTime,
            ["tax_amount": "-1"],
            "tax_amount: tax_amount is -1; it must be a whole number of at least 0"
        )
        try expect(Self.oneTime, ["quantity": "0"], "quantity: quantity is 0; it must be a whole number of at least 1")
        try expect(
            Self.oneTime,
            ["net_amount_tax_exclusive": "2501"],
            "IncorrectNetAmountError: net_amount_tax_exclusive is 2501; it must not be more than amount_tax_exclusive, 2500 (Apple's 12)"
        )
        #expect(
            try row(Self.oneTime.merging(["amount_tax_exclusive": "\(Int64.max)"]) { $1 }).problem?.rule
                == "IncorrectAmountTaxInclusiveError"
        )
    }

    @Test func `EP3 currencies, countries and rates are Apple's`() throws {
        #expect(
            try row(Self.oneTime.merging(["reporting_currency": "XAU"]) { $1 }).problem?.rule == "reporting_currency"
        )
        try expect(
            Self.oneTime,
            ["tax_country": "FR"],
            "tax_country: tax_country is FR; it must be a country code of ISO 3166-1 alpha-3, such as FRA"
        )
        try expect(
            Self.oneTime,
            ["pricing_currency": "USD"],
            "ReportingCurrencyExchangeNotAllowedError: reporting_currency is EUR; it must be USD if pricing_currency is USD (Apple's 18)"
        )
        try expect(
            Self.oneTime,
            ["pricing_currency": "ISK"],
            "OmittedFieldError: exchange_rate is missing; it is needed from ISK (pricing_currency) to EUR (Apple's 4)"
        )
        try expect(
            Self.oneTime,
            ["reporting_currency": "GBP", "pricing_currency": "ISK", "exchange_rate": "1"],
            "ReportingCurrencyExchangeNotAllowedError: reporting_currency is GBP; it must be EUR or USD if pricing_currency is ISK (Apple's 18)"
        )
        try expect(
            Self.oneTime,
            ["exchange_rate": "1.0"],
            "FieldNotAllowedError: exchange_rate has a value; it must not if reporting_currency and pricing_currency are both EUR (Apple's 5)"
        )
        for rate in ["0", "0.00", "-1", "one", "1e3", "01.5", ".5", "1.", String(repeating: "1", count: 129)] {
            let changes = ["pricing_currency": "ISK", "exchange_rate": rate]
            #expect(try row(Self.oneTime.merging(changes) { $1 }).problem?.rule == "exchange_rate", "\(rate)")
        }
        let rate = try row(Self.oneTime.merging(["pricing_currency": "ISK", "exchange_rate": "0.00690"]) { $1 })
        #expect(rate.parameters?["exchange_rate"] == .json(.number(JSONNumber(text: "0.00690"))))
    }

    @Test func `EP4 dates are milliseconds or have a time zone, and end after they start`() throws {
        for date in ["1793525400", "2026-11-01", "2026-11-01T09:30:00", "yesterday", "999999999999999999"] {
            try expect(
                Self.oneTime,
                ["creation_date": date],
                "creation_date: creation_date is \(date); it must be milliseconds since 1970 (not seconds), or a date and time such as 2026-11-01T09:30:00Z"
            )
        }
        try expect(
            Self.subscription,
            ["subscription_end_date": "1793525400000"],
            "StartDateAfterEndDateError: subscription_end_date is 1793525400000; it must be after subscription_start_date, 1793525400000 (Apple's 17)"
        )
    }

    @Test func `EP5 IDs have Apple's lengths`() throws {
        let id = String(repeating: "ä", count: 129)
        #expect(try row(Self.oneTime.merging(["line_item_id": id]) { $1 }).problem?.rule == "line_item_id")
        #expect(try row(Self.oneTime.merging(["line_item_id": String(id.dropLast())]) { $1 }).problem == nil)
        let product = String(repeating: "p", count: 257)
        #expect(
            try row(Self.oneTime.merging(["product_identifier": product]) { $1 }).problem?.rule == "product_identifier"
        )
        #expect(try row(Self.oneTime.merging(["line_item_id": "a\u{1B}b"]) { $1 }).problem?.rule == "line_item_id")
    }

    @Test func `EP6 EP10 a subscription begins without paid days, and a mark needs a restatement`() throws {
        try expect(
            Self.subscription,
            ["subscription_days_of_paid_service": "3"],
            "SubscriptionStartNonZeroDaysPaidServiceError: subscription_days_of_paid_service is 3; it must be 0 for SUBSCRIPTION_START (Apple's 34)"
        )
        let free = ["amount_tax_inclusive", "amount_tax_exclusive", "tax_amount", "net_amount_tax_exclusive"].map {
            ($0, "0")
        }
        let payment = ["subscription_event": "SUBSCRIPTION_PAYMENT"].merging(free) { $1 }
        try expect(
            Self.subscription,
            payment,
            "InvalidTaxInclusiveAmountForSubscriptionPaymentError: amount_tax_inclusive is 0; it must be above 0 for SUBSCRIPTION_PAYMENT (Apple's 35)"
        )
        try expect(
            Self.refund,
            ["reference_line_item_id": "a"],
            "SelfReferenceError: reference_line_item_id is a, the line_item_id of the same row (Apple's 13)"
        )
        try expect(
            Self.oneTime,
            ["erroneously_submitted": "true"],
            "ErroneouslySubmittedNotRestatementError: erroneously_submitted is true; it must not be unless restatement is true (Apple's 20)"
        )
        #expect(
            try row(Self.oneTime.merging(["erroneously_submitted": "true", "restatement": "TRUE"]) { $1 }).problem
                == nil
        )
    }

    @Test func `a report is compared with what Apple has, and Apple's 3 says that it has none`() {
        let row = LeasedRow.test([
            ("external_purchase_id", .text("t")), ("status", .text("LINE_ITEM")),
            (
                "line_items",
                .json(.array([.object(JSONObject([.init(key: "line_item_id", value: .string("a"))]))]))
            ),
        ])
        func found(_ status: Int, _ body: String) -> Evidence? {
            let answer = HTTPAnswer(status: status, errorCode: nil, message: "")
            return ReportEvidence(of: row, in: .init(answer: answer, body: Array(body.utf8)))?.found
        }
        let id = LeasedRow.requestIDText
        func report(_ line: String) -> String {
            #"{"report":{"externalPurchaseId":"t","status":"LINE_ITEM","lineItems":[{"lineItemId":"\#(line)"}]}}"#
        }
        #expect(found(200, report("a")) == .applied("report \(id)"))
        #expect(found(200, report("b")) == .undecided("Apple has a report \(id) with another lineItems"))
        #expect(found(400, #"{"errors":[{"errorCode":3}]}"#) == .notApplied("Apple has no report \(id)"))
        #expect(found(400, #"{"errorCode":3,"errorMessage":"no"}"#) == .notApplied("Apple has no report \(id)"))
        #expect(found(400, #"{"errorCode":4000000}"#) == nil)
        #expect(found(200, "{}") == nil)
        #expect(found(404, "") == nil)
    }
}
