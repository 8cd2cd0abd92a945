import ActionKinds
import AppStoreModel
import JobFiles
import JobSyntax
import Testing

@testable import Actions

/// Apple's rules for the bodies of Advanced Commerce requests, as the plan checks them in the cells of an input.
struct AdvancedCommerceInputTests {
    private static let actions: [String: String] = [
        "price": "changeSubscriptionPrice: {}",
        "metadata": "changeSubscriptionMetadata: {}",
        "migrate": "migrateSubscription: {targetProductId: com.example.generic, taxCode: C003-00-1}",
        "refund": "requestTransactionRefund: {refundRiskingPreference: true}",
        "revoke": "revokeSubscription: {refundRiskingPreference: false}",
        "cancel": "cancelSubscription: {}",
    ]

    /// The row of an input with these cells.
    private func row(_ action: String, _ cells: KeyValuePairs<String, String>) throws -> InputRow {
        let job = try TestJob.of(try #require(Self.actions[action]), name: action)
        let header = try InputHeader(["transaction_id"] + cells.map(\.key), of: "input.csv", for: job)
        return header.row(1, line: 2, ["2000000123456789"] + cells.map(\.value))
    }

    /// The rule that the row breaks, and the reason.
    private func problem(_ action: String, _ cells: KeyValuePairs<String, String>) throws -> String {
        try row(action, cells).problem.map { "\($0.rule): \($0.reason)" } ?? "valid"
    }

    private func item(_ members: String) -> String { "[{\(members)}]" }

    private func body(_ action: String, _ cells: KeyValuePairs<String, String>, token: String? = nil) throws -> String {
        let job = try TestJob.of(try #require(Self.actions[action]), name: action)
        var parameters = try #require(try row(action, cells).parameters)
        if let token { parameters = parameters.adding(ActionParameters.consistencyToken, .text(token)) }
        let request = job.action.request(parameters, id: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        return "\(request.method) \(request.target) \(String(decoding: request.body ?? [], as: UTF8.self))"
    }

    @Test func `the bodies of the six calls have Apple's members, the row's ID and the consistency token`() throws {
        let info = #""requestInfo":{"requestReferenceId":"7e3fb20b-4cdb-47cc-936d-99d65f608138"}"#
        let path = "post /advancedCommerce/v1"
        #expect(
            try body("cancel", ["storefront": "USA"], token: "1.2.3")
                == """
                \(path)/subscription/cancel/2000000123456789 \
                {"requestInfo":{"consistencyToken":"1.2.3","requestReferenceId":"7e3fb20b-4cdb-47cc-936d-99d65f608138"},\
                "storefront":"USA"}
                """
        )
        #expect(
            try body(
                "metadata",
                [
                    "descriptors": #"{"effective": "IMMEDIATELY", "displayName": "Shelves"}"#,
                    "items": #"[{"effective": "NEXT_BILL_CYCLE", "currentSKU": "a", "SKU": "b"}]"#,
                    "tax_code": "C003-00-2",
                ]
            ) == """
                \(path)/subscription/changeMetadata/2000000123456789 {\(info),\
                "descriptors":{"displayName":"Shelves","effective":"IMMEDIATELY"},\
                "items":[{"currentSKU":"a","SKU":"b","effective":"NEXT_BILL_CYCLE"}],"taxCode":"C003-00-2"}
                """
        )
        #expect(
            try body(
                "price",
                ["currency": "EUR", "items": #"[{"price": 9990, "SKU": "a", "dependentSKUs": ["b"]}]"#]
            ) == """
                \(path)/subscription/changePrice/2000000123456789 {\(info),"currency":"EUR",\
                "items":[{"SKU":"a","dependentSKUs":["b"],"price":9990}]}
                """
        )
        let migrated = #"{"SKU": "a", "displayName": "Gold", "description": "Gold tier"}"#
        #expect(
            try body(
                "migrate",
                ["descriptors": #"{"displayName": "Stream", "description": "TV"}"#, "items": "[\(migrated)]"]
            ) == """
                \(path)/subscription/migrate/2000000123456789 {\(info),\
                "descriptors":{"description":"TV","displayName":"Stream"},\
                "items":[{"SKU":"a","description":"Gold tier","displayName":"Gold"}],\
                "targetProductId":"com.example.generic","taxCode":"C003-00-1"}
                """
        )
        #expect(
            try body("revoke", ["refund_reason": "LEGAL", "refund_type": "PRORATED"])
                == """
                \(path)/subscription/revoke/2000000123456789 {\(info),"refundReason":"LEGAL",\
                "refundRiskingPreference":false,"refundType":"PRORATED"}
                """
        )
        let refund =
            #""SKU": "a", "revoke": true, "refundType": "CUSTOM", "refundAmount": 500, "refundReason": "OTHER""#
        #expect(
            try body("refund", ["items": item(refund), "app_account_token": "7E3FB20B-4CDB-47CC-936D-99D65F608138"])
                == """
                \(path)/transaction/requestRefund/2000000123456789 \
                {"requestInfo":{"appAccountToken":"7e3fb20b-4cdb-47cc-936d-99d65f608138",\
                "requestReferenceId":"7e3fb20b-4cdb-47cc-936d-99d65f608138"},\
                "items":[{"SKU":"a","refundAmount":500,"refundReason":"OTHER","refundType":"CUSTOM","revoke":true}],\
                "refundRiskingPreference":true}
                """
        )
    }

    @Test func `lists and objects have one form for every order in the cell and in the database`() throws {
        let job = try TestJob.of(try #require(Self.actions["price"]))
        let first = try #require(try row("price", ["items": #"[{"SKU": "a", "price": 1}]"#]).parameters)
        let second = try #require(try row("price", ["items": #"[ {"price":1,"SKU":"a"} ]"#]).parameters)
        #expect(first.bytes == second.bytes)
        // PostgreSQL puts short keys first: price, SKU.
        let stored = first.json
        #expect(ActionParameters(stored, columns: job.action.columns).bytes == first.bytes)
    }

    @Test func `a default of the job file can be YAML or JSON`() throws {
        for action in [
            "changeSubscriptionPrice: {currency: USD, items: [{SKU: a, price: 9990}]}",
            #"changeSubscriptionPrice: {currency: USD, items: '[{"SKU": "a", "price": 9990}]'}"#,
        ] {
            let job = try TestJob.of(action)
            let header = try InputHeader(["transaction_id"], of: "input.csv", for: job)
            let json = header.row(1, line: 2, ["5"]).parameters.map { String(decoding: $0.bytes, as: UTF8.self) }
            #expect(json == #"{"transaction_id":"5","currency":"USD","items":[{"SKU":"a","price":9990}]}"#)
        }
        do {
            _ = try TestJob.of("changeSubscriptionPrice: {items: [{SKU: a, price: 9.99}]}")
            Issue.record("a price with a fraction was accepted")
        } catch let error as JobFileError {
            let found = error.description
            #expect(found.contains("items[0].price is 9.99"), "\(found)")
        }
    }

    @Test func `AC1 a member that Apple does not document is refused`() throws {
        #expect(
            try problem("price", ["items": item(#""SKU": "a", "price": 1, "displayname": "b""#)])
                == """
                unknown_field: items[0].displayname is not a member of SubscriptionPriceChangeItem; \
                the members are SKU, dependentSKUs, price
                """
        )
        #expect(
            try problem("migrate", ["descriptors": #"{"name": "b"}"#, "items": "[]"]).hasPrefix(
                "unknown_field: descriptors.name is not a member of Descriptors"
            )
        )
        // Names are compared as bytes: the Kelvin sign is no K.
        #expect(try problem("price", ["items": item("\"S\u{212A}U\": \"a\", \"price\": 1")]).hasPrefix("unknown_field"))
    }

    @Test(arguments: [
        ("9.99", "wrong_type: items[0].price is 9.99; it must be a whole number without fraction and exponent"),
        ("9990.0", "wrong_type: items[0].price is 9990.0; it must be a whole number without fraction and exponent"),
        ("1e3", "wrong_type: items[0].price is 1e3; it must be a whole number without fraction and exponent"),
        ("\"9990\"", "wrong_type: items[0].price is a text; it must be a whole number"),
        ("true", "wrong_type: items[0].price is true; it must be a whole number"),
        ("null", "NullPriceError: items[0].price is null (Apple's 4000109)"),
        ("-1", "NegativePriceError: items[0].price is -1; it must be 0 or more (Apple's 4000086)"),
        (
            "9223372036854775808",
            "wrong_type: items[0].price is 9223372036854775808; it must be a whole number without fraction and exponent"
        ),
    ])
    func `AC2 a price that is not a whole number of milliunits is refused`(price: String, expected: String) throws {
        #expect(try problem("price", ["items": item("\"SKU\": \"a\", \"price\": \(price)")]) == expected)
    }

    @Test func `AC3 an SKU has 1 to 128 characters`() throws {
        func sku(_ text: String) throws -> String {
            try problem("price", ["items": item("\"SKU\": \"\(text)\", \"price\": 1")])
        }
        #expect(try sku(String(repeating: "a", count: 128)) == "valid")
        #expect(
            try sku(String(repeating: "a", count: 129))
                == "SKULengthExceededError: items[0].SKU has 129 characters; Apple takes at most 128"
        )
        // A letter outside the Basic Multilingual Plane counts as two, as in Java and JavaScript.
        #expect(try sku(String(repeating: "𝒜", count: 65)).contains("has 130 characters"))
        #expect(try sku("") == "InvalidSKUError: items[0].SKU is empty (Apple's 4000122)")
        #expect(try sku("\\u001b[2J") == "InvalidSKUError: items[0].SKU has a control character (Apple's 4000122)")
        let current = String(repeating: "b", count: 129)
        #expect(
            try problem(
                "metadata",
                ["items": item("\"currentSKU\": \"\(current)\", \"effective\": \"IMMEDIATELY\", \"SKU\": \"b\"")]
            )
            .hasPrefix("CurrentSKULengthExceededError")
        )
    }

    @Test func `AC4 an empty list of items, and none where Apple needs one, is refused`() throws {
        for action in ["price", "metadata", "refund"] {
            #expect(
                try problem(action, ["items": "[]"])
                    == "AtLeastOneItemError: items is empty; it must have an item (Apple's 4000160)"
            )
        }
        #expect(try problem("price", ["items": ""]).hasPrefix("items: items is missing; it must be a JSON list"))
        #expect(throws: ActionInputError.self) { try problem("price", [:]) }
    }

    @Test func `AC5 descriptors without name and description are refused`() throws {
        #expect(
            try problem("metadata", ["descriptors": #"{"effective": "IMMEDIATELY"}"#])
                == """
                AtLeastOneOfDisplayNameOrDescriptionError: descriptors has neither displayName nor description \
                (Apple's 4000165)
                """
        )
        #expect(
            try problem("migrate", ["descriptors": "{}", "items": "[]"])
                == "NullDescriptionError: descriptors.description is missing (Apple's 4000107)"
        )
        #expect(
            try problem("metadata", ["items": item(#""currentSKU": "a", "effective": "IMMEDIATELY""#)])
                .hasPrefix("AtLeastOneOfDisplayNameOrDescriptionError: items[0] has none of")
        )
    }

    @Test func `AC6 a name of 31 characters and a description of 46 are refused`() throws {
        func texts(_ name: Int, _ description: Int) throws -> String {
            let (name, text) = (String(repeating: "n", count: name), String(repeating: "d", count: description))
            let descriptors = "{\"displayName\": \"\(name)\", \"description\": \"\(text)\"}"
            return try problem(
                "migrate",
                ["descriptors": descriptors, "items": item(#""SKU": "a", "displayName": "b", "description": "c""#)]
            )
        }
        #expect(try texts(30, 45) == "valid")
        #expect(
            try texts(31, 45).hasPrefix("DisplayNameLengthExceededError: descriptors.displayName has 31 characters")
        )
        #expect(
            try texts(30, 46).hasPrefix("DescriptionLengthExceededError: descriptors.description has 46 characters")
        )
    }

    @Test func `AC7 an SKU twice, and dependent SKUs that are shared or chained, are refused`() throws {
        func prices(_ items: String) throws -> String { try problem("price", ["items": "[\(items)]"]) }
        #expect(
            try prices(#"{"SKU": "a", "price": 1}, {"SKU": "a", "price": 2}"#)
                == "ItemCannotBeSpecifiedMultipleTimesError: items[1].SKU is the same as in an earlier item (Apple's 4000194)"
        )
        let shared =
            #"{"SKU": "a", "price": 1, "dependentSKUs": ["c"]}, {"SKU": "b", "price": 2, "dependentSKUs": ["c"]}"#
        #expect(try prices(shared).hasPrefix("DependentSKUsCannotBeSharedError: items[1].dependentSKUs[0]"))
        let chained =
            #"{"SKU": "a", "price": 1, "dependentSKUs": ["b"]}, {"SKU": "b", "price": 2, "dependentSKUs": ["c"]}"#
        #expect(try prices(chained).hasPrefix("DependentSKUsCannotBeChainedError: items[0].dependentSKUs[0]"))
        let twice = #"{"currentSKU": "a", "SKU": "b", "effective": "IMMEDIATELY"}"#
        #expect(
            try problem("metadata", ["items": "[\(twice), \(twice)]"]).hasPrefix(
                "ItemCannotBeSpecifiedMultipleTimesError: items[1].currentSKU"
            )
        )
    }

    @Test func `AC8 a refund amount belongs to a CUSTOM refund, and a simulated decline to all items`() throws {
        func refund(_ members: String, reason: String = "OTHER") -> String {
            "{\"SKU\": \"\(members.count)\", \"revoke\": false, \"refundReason\": \"\(reason)\", \(members)}"
        }
        func problem(_ items: String...) throws -> String {
            try self.problem("refund", ["items": "[\(items.joined(separator: ","))]"])
        }
        #expect(try problem(refund(#""refundType": "CUSTOM", "refundAmount": 1"#)) == "valid")
        #expect(
            try problem(refund(#""refundType": "CUSTOM""#)).hasPrefix("NullRefundAmountError: items[0].refundAmount")
        )
        #expect(
            try problem(refund(#""refundType": "FULL", "refundAmount": 1"#)).hasPrefix(
                "RefundAmountWithoutCustomError: items[0].refundAmount"
            )
        )
        #expect(
            try problem(refund(#""refundType": "CUSTOM", "refundAmount": 0"#)).hasPrefix("NegativeRefundAmountError")
        )
        #expect(
            try problem(
                refund(#""refundType": "FULL""#),
                refund(#""refundType": "PRORATED""#, reason: "SIMULATE_REFUND_DECLINE")
            ).hasPrefix("PartialSimulateRefundDeclineError: items have")
        )
        #expect(
            try self.problem("refund", ["items": item(#""SKU": "a", "refundReason": "LEGAL", "refundType": "FULL""#)])
                == "missing_field: items[0].revoke is missing"
        )
    }

    @Test(arguments: [
        ("refund_reason", "BORED", "InvalidRefundReasonError: refund_reason is \"BORED\""),
        ("refund_type", "CUSTOM", "InvalidRefundTypeError: refund_type is \"CUSTOM\""),
        ("storefront", "US", "InvalidStorefrontError: storefront is \"US\""),
        ("storefront", "usa", "InvalidStorefrontError: storefront is \"usa\""),
        ("app_account_token", "7e3fb20b", "app_account_token: app_account_token is 7e3fb20b"),
        ("refund_risking_preference", "maybe", "refund_risking_preference: refund_risking_preference is maybe"),
    ])
    func `AC9 words, codes and UUIDs are Apple's`(column: String, text: String, expected: String) throws {
        var job = ["refund_reason": "LEGAL", "refund_type": "FULL"]
        job[column] = text
        let names = job.keys.sorted()
        let header = try InputHeader(
            ["transaction_id"] + names,
            of: "input.csv",
            for: try TestJob.of(try #require(Self.actions["revoke"]))
        )
        let problem = try #require(header.row(1, line: 2, ["5"] + names.map { job[$0] ?? "" }).problem)
        #expect("\(problem.rule): \(problem.reason)".hasPrefix(expected), "\(problem)")
        #expect(
            try self.problem("price", ["currency": "euro", "items": "[]"]).hasPrefix("InvalidCurrencyError: currency")
        )
        let effective = item(#""currentSKU": "a", "SKU": "b", "effective": "NOW""#)
        #expect(try self.problem("metadata", ["items": effective]).contains("items[0].effective is \"NOW\""))
    }

    @Test func `AC10 a cell that is no JSON, or has a key twice, is refused`() throws {
        for cell in [
            "SKU=a", "[{]", #"[{"SKU": "a", "SKU": "b", "price": 1}]"#, #"[{"SKU": "a\#u{0}"}]"#,
            "[" + String(repeating: "[", count: 100),
        ] {
            #expect(try problem("price", ["items": cell]).hasPrefix("items: items is "), "\(cell)")
        }
        #expect(try problem("price", ["items": "{}"]).hasPrefix("wrong_type: items is an object; it must be a list of"))
        #expect(try problem("price", ["items": "[1]"]) == "wrong_type: items[0] must be an object")
    }

    @Test func `AC11 a change of metadata that changes nothing is refused`() throws {
        #expect(try problem("metadata", ["storefront": "USA"]).hasPrefix("no_change: "))
        #expect(try problem("metadata", ["tax_code": "C003-00-1"]) == "valid")
    }
}
