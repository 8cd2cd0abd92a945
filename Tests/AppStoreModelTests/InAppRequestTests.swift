import AppStoreModel
import StrictJSON
import Testing

/// Apple's rules for the requests that an app passes to StoreKit.
struct InAppRequestTests {
    private static let id = #""requestInfo":{"requestReferenceId":"f55df048-4cd8-4261-b404-b6f813ff70e5"}"#

    /// The examples of Apple's documentation.
    static let examples = [
        """
        {"operation":"CREATE_ONE_TIME_CHARGE","version":"1",\(id),"currency":"USD","taxCode":"C003-00-2","storefront":"USA",
        "item":{"SKU":"BOOK_SHERLOCK_HOLMES","displayName":"Sherlock Holmes","description":"The Sherlock Holmes, 5th Edition","price":4990}}
        """,
        """
        {"operation":"CREATE_SUBSCRIPTION","version":"1",\(id),"currency":"USD","taxCode":"C003-00-1",
        "descriptors":{"displayName":"Streaming Pass","description":"Streaming pass with multiple items"},"period":"P1M","storefront":"USA",
        "items":[{"SKU":"LIVE_SPORTS","displayName":"Live Sports","description":"Streaming for sports events","price":40000},
        {"SKU":"SATURDAY_MORNING_CARTOONS","displayName":"Saturday Morning Cartoons","description":"Streaming for animated series",
        "price":11000,"offer":{"price":2990,"period":"P1M","periodCount":3,"reason":"ACQUISITION"}}]}
        """,
        """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1","transactionId":"12345",\(id),"currency":"USD","storefront":"USA",
        "descriptors":{"effective":"IMMEDIATELY","displayName":"Anne's Game Stream","description":"Streaming Service for Anne's Game"},
        "periodChange":{"effective":"IMMEDIATELY","period":"P1Y"},"retainBillingCycle":false,
        "changeItems":[{"effective":"IMMEDIATELY","currentSKU":"ANNES_GOLD_TIER_1M","SKU":"ANNES_PLATINUM_TIER_1Y","price":99990,
        "displayName":"Platinum Tier","description":"Access to Anne's Game Stream & chat","reason":"UPGRADE"}]}
        """,
        """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1","transactionId":"12345",\(id),"currency":"USD","storefront":"USA",
        "descriptors":{"effective":"IMMEDIATELY","displayName":"Streaming Pass","description":"Streaming pass with multiple items"},
        "retainBillingCycle":true,
        "addItems":[{"SKU":"NEWS_CHANNELS","displayName":"News Channel","description":"Access to news channels","price":4990}]}
        """,
        """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1","transactionId":"12345",\(id),"currency":"USD","storefront":"USA",
        "retainBillingCycle":true,"removeItems":[{"SKU":"LIVE_SPORTS"}]}
        """,
        """
        {"operation":"REACTIVATE_SUBSCRIPTION","version":"1","transactionId":"12345",\(id),"items":[{"SKU":"LIVE_SPORTS"}]}
        """,
    ]

    /// The rule that a request breaks, with the place; `nil` for a valid one.
    private func problem(_ json: String) throws -> String? {
        do {
            try InAppRequest.check(try StrictJSON.scan(Array(json.utf8)))
            return nil
        } catch let problem as AdvancedCommerceProblem {
            return "\(problem.rule) \(problem.path)"
        }
    }

    /// The same of an example with a part replaced.
    private func problem(_ example: Int, _ part: String, _ replacement: String) throws -> String? {
        let text = Self.examples[example]
        try #require(text.contains(part), "the example has no \(part)")
        return try problem(text.replacing(part, with: replacement, maxReplacements: 1))
    }

    @Test(arguments: examples) func `Apple's examples break no rule`(example: String) throws {
        #expect(try problem(example) == nil)
    }

    @Test func `SG1 a member that Apple does not document is refused, at every level`() throws {
        let price = #""price":4990"#
        #expect(try problem(0, #""version""#, #""colour":1,"version""#) == "unknown_field colour")
        #expect(try problem(0, price, #""price":4990,"Price":1"#) == "unknown_field item.Price")
        #expect(try problem(0, price, #""price":4990,"offer":{}"#) == "unknown_field item.offer")
        #expect(
            try problem(1, #""periodCount":3"#, #""periodCount":3,"count":1"#) == "unknown_field items[1].offer.count"
        )
        // A member of another operation.
        #expect(try problem(5, #""items""#, #""currency":"USD","items""#) == "unknown_field currency")
    }

    @Test(arguments: ["4990.5", "4990.0", "4.99e3", #""4990""#, "true", "null", "9223372036854775808"])
    func `SG2 a price that is not a whole number is refused`(price: String) throws {
        let found = try #require(try problem(0, "4990", price))
        #expect(found == (price == "null" ? "NullPriceError item.price" : "wrong_type item.price"))
    }

    @Test func `SG2 a price below zero is refused, and a price of zero is not`() throws {
        #expect(try problem(0, "4990", "-1") == "NegativePriceError item.price")
        #expect(try problem(0, "4990", "0") == nil)
    }

    @Test func `SG3 an SKU of 129 characters is refused, and one of 128 is not`() throws {
        let longest = String(repeating: "S", count: 128)
        #expect(try problem(0, "BOOK_SHERLOCK_HOLMES", longest) == nil)
        #expect(try problem(0, "BOOK_SHERLOCK_HOLMES", longest + "S") == "SKULengthExceededError item.SKU")
        #expect(
            try problem(2, "ANNES_GOLD_TIER_1M", longest + "S")
                == "CurrentSKULengthExceededError changeItems[0].currentSKU"
        )
        let name = String(repeating: "n", count: 31)
        #expect(try problem(0, "Sherlock Holmes", name) == "DisplayNameLengthExceededError item.displayName")
        let text = String(repeating: "d", count: 46)
        #expect(
            try problem(0, "The Sherlock Holmes, 5th Edition", text)
                == "DescriptionLengthExceededError item.description"
        )
    }

    @Test func `SG4 an empty list of items is refused`() throws {
        #expect(try problem(5, #"[{"SKU":"LIVE_SPORTS"}]"#, "[]") == "AtLeastOneItemError items")
        #expect(try problem(4, #"[{"SKU":"LIVE_SPORTS"}]"#, "[]") == "AtLeastOneItemError removeItems")
        #expect(
            try problem(4, #""removeItems""#, #""addItems":[],"removeItems""#) == "EmptyAddChangeItemsError addItems"
        )
        #expect(
            try problem(4, #""removeItems""#, #""changeItems":[],"removeItems""#)
                == "EmptyAddChangeItemsError changeItems"
        )
        #expect(
            try problem(4, #","removeItems":[{"SKU":"LIVE_SPORTS"}]"#, "") == "OneItemNeededInModifyError the request"
        )
    }

    @Test func `SG5 descriptors without a name and a description are refused`() throws {
        let pass = #"{"displayName":"Streaming Pass","description":"Streaming pass with multiple items"}"#
        #expect(try problem(1, pass, "{}") == "NullDescriptionError descriptors.description")
        #expect(try problem(1, pass, #"{"description":"d"}"#) == "NullDisplayNameError descriptors.displayName")
        #expect(
            try problem(1, pass, #"{"displayName":"","description":"d"}"#)
                == "InvalidDisplayNameError descriptors.displayName"
        )
        let changed =
            #""effective":"IMMEDIATELY","displayName":"Streaming Pass","description":"Streaming pass with multiple items""#
        #expect(
            try problem(3, changed, #""effective":"IMMEDIATELY""#)
                == "AtLeastOneOfDisplayNameOrDescriptionError descriptors"
        )
        #expect(try problem(3, changed, #""effective":"IMMEDIATELY","displayName":"Pass""#) == nil)
    }

    @Test func `SG6 an operation, a version or a reference that Apple does not take is refused`() throws {
        #expect(try problem(0, #""operation":"CREATE_ONE_TIME_CHARGE","#, "") == "InvalidOperationError operation")
        #expect(try problem(0, "CREATE_ONE_TIME_CHARGE", "CHARGE") == "InvalidOperationError operation")
        #expect(try problem(0, #""version":"1""#, #""version":"2""#) == "UnexpectedVersionError version")
        #expect(try problem(0, #""version":"1""#, #""version":1"#) == "wrong_type version")
        #expect(try problem(0, #""version":"1","#, "") == "NullVersionError version")
        #expect(try problem(0, Self.id + ",", "") == "NullRequestInfoError requestInfo")
        #expect(
            try problem(0, "f55df048-4cd8", "f55df048-4cd")
                == "InvalidRequestReferenceIDError requestInfo.requestReferenceId"
        )
        #expect(try problem(4, "12345", "12a45") == "InvalidTransactionIdError transactionId")
        #expect(try problem("[]") == "wrong_type the request")
    }

    @Test func `SG7 members that contradict each other are refused under Apple's name`() throws {
        let offer = #""periodCount":3"#
        let chat = #""reason":"UPGRADE""#
        let news = #""description":"Access to news channels","price":4990"#
        let token = #"b6f813ff70e5","consistencyToken":"1.12345.x""#
        let cases: [(Int, String, String, String)] = [
            (
                1, #""price":2990"#, #""price":0"#,
                "FreeTrialOfferMustUsePeriodCountOfOneError items[1].offer.periodCount"
            ),
            (1, #""price":2990"#, #""price":11001"#, "InvalidOfferPriceError items[1].offer.price"),
            (1, offer, #""periodCount":13"#, "InvalidOfferPeriodCountError items[1].offer.periodCount"),
            (1, "SATURDAY_MORNING_CARTOONS", "LIVE_SPORTS", "ItemCannotBeSpecifiedMultipleTimesError items[1].SKU"),
            (0, #"b6f813ff70e5""#, token, "InvalidConsistencyTokenError requestInfo.consistencyToken"),
            (1, #"b6f813ff70e5""#, token, "InvalidConsistencyTokenError requestInfo.consistencyToken"),
            (
                2, #""retainBillingCycle":false"#, #""retainBillingCycle":true"#,
                "PeriodResetWithRetainBillingCycleError retainBillingCycle"
            ),
            (
                2, #"[{"effective":"IMMEDIATELY""#, #"[{"effective":"NEXT_BILL_CYCLE""#,
                "PeriodChangeImmediateWithEffectiveAtNextBillingCycleError changeItems[0].effective"
            ),
            (
                2,
                #""periodChange":{"effective":"IMMEDIATELY","period":"P1Y"},"retainBillingCycle":false,"#
                    + "\n" + #""changeItems":[{"effective":"IMMEDIATELY""#,
                #""retainBillingCycle":false,"changeItems":[{"effective":"NEXT_BILL_CYCLE""#,
                "BillingCycleResetWithEffectiveLaterError retainBillingCycle"
            ),
            (
                2, chat,
                chat + #","proratedPrice":1,"offer":{"price":1,"period":"P1M","periodCount":1,"reason":"RETENTION"}"#,
                "MultiplePricesError changeItems[0]"
            ),
            (
                2, chat,
                chat
                    + #"},{"effective":"IMMEDIATELY","currentSKU":"ANNES_GOLD_TIER_1M","SKU":"B","price":1,"displayName":"n","description":"d","reason":"DOWNGRADE""#,
                "MultipleOperationsOnSingleSKUError changeItems[1].currentSKU"
            ),
            (
                3, #""addItems""#, #""periodChange":{"effective":"NEXT_BILL_CYCLE","period":"P1Y"},"addItems""#,
                "PeriodChangeEffectiveConflictError periodChange.effective"
            ),
            (3, news, news + #","proratedPrice":-1"#, "NegativeProratedPriceError addItems[0].proratedPrice"),
        ]
        for (example, part, replacement, expected) in cases {
            #expect(try problem(example, part, replacement) == expected)
        }
        // A subscription that is bought again has a token.
        let again = Self.examples[1].replacing(#"b6f813ff70e5""#, with: token)
            .replacing(#""period""#, with: #""previousTransactionId":"12345","period""#, maxReplacements: 1)
        #expect(try problem(again) == nil)
        // A change for the next billing cycle has no price for the rest of this one.
        let later = Self.examples[2].replacing(
            #""periodChange":{"effective":"IMMEDIATELY","period":"P1Y"},"retainBillingCycle":false"#,
            with: #""retainBillingCycle":true"#
        )
        .replacing(#"[{"effective":"IMMEDIATELY""#, with: #"[{"effective":"NEXT_BILL_CYCLE","proratedPrice":1"#)
        #expect(
            try problem(later)
                == "InvalidProratedPriceForChangeItemWithEffectiveLaterError changeItems[0].proratedPrice"
        )
    }
}
