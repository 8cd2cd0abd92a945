import ActionKinds
import AppStoreModel
import JobFiles
import JobSyntax
import Testing

/// The policy of a job that answers refund requests: what it accepts, what it refuses, and which rule decides.
@Suite struct ConsumptionPolicyTests {
    /// A job file with a policy.
    private static func text(
        consent: String? = "true",
        rules: String = "[{answer: none}]",
        more: String = "",
        action: String = "sendConsumptionInformation"
    ) -> String {
        let head = JobFileText.usual.split(separator: "transactionIds:")[0]
        let consented = consent.map { "    customerConsented: \($0)\n" } ?? ""
        return
            "\(head)action:\n  \(action):\n\(consented)    policy: \(rules)\n\(more)output:\n  postgres: {url: postgresql:///ledger}\n"
    }

    private static func load(_ text: String) throws -> ActionJob {
        try AcceptedJobs.action.parse(text, path: "job.yaml", environment: [:])
    }

    private static func complaint(_ text: String) throws -> String {
        do throws(JobFileError) {
            _ = try AcceptedJobs.action.parse(text, path: "job.yaml", environment: [:])
            return ""
        } catch {
            return error.description
        }
    }

    private static let answer = "{deliveryStatus: DELIVERED, sampleContentProvided: false}"
    private static let section = "action.sendConsumptionInformation"

    private struct Unexpected: Error {}

    @Test func `RP1 consent is never assumed`() throws {
        let rule = "it must be true if every customer has consented, or name those who have: csv or query"
        for (consent, found) in [(nil, "is missing"), ("false", "is false"), ("yes", "is yes")] as [(String?, String)] {
            let complaint = try Self.complaint(Self.text(consent: consent))
            #expect(complaint.hasSuffix("\(Self.section).customerConsented \(found); \(rule)"), "\(complaint)")
            #expect(!complaint.contains("\n"))
        }
    }

    @Test(arguments: [
        (
            "{csv: {path: a.csv}}",
            ".csv.column is missing; it must be app_account_token, app_transaction_id, original_transaction_id or transaction_id"
        ),
        ("{csv: {path: a.csv, column: email}}", ".csv.column is email; it must be app_account_token,"),
        (
            "{csv: {path: a.csv, column: transaction_id}, query: SELECT 1}",
            " names csv and query; name exactly one of csv and query"
        ),
        ("{}", " names no source; name exactly one of csv and query"),
        (
            "{query: DELETE FROM x}",
            ".query is DELETE FROM x; it must be one SELECT or WITH statement without a semicolon"
        ),
        ("[1]", "it must be a mapping"),
    ])
    func `RP2 consents come from one column that names customers`(consent: String, message: String) throws {
        let complaint = try Self.complaint(Self.text(consent: consent))
        #expect(complaint.contains(message), "\(complaint)")
    }

    @Test(arguments: [
        (
            "[{answer: none}, {answer: none}]",
            ".policy[0].when is missing; only the last rule has no condition, because no rule after it could match"
        ),
        ("[{when: {}, answer: none}, {answer: none}]", ".policy[0].when is empty; only the last rule has no condition"),
        (
            "[{when: {advancedCommerce: true}, answer: none}]",
            ".policy[0].when is a condition of the last rule; add a rule without when after it, such as {answer: none}, for all other requests"
        ),
    ])
    func `RP3 only the last rule has no condition, so every request has exactly one rule`(
        rules: String,
        message: String
    )
        throws
    {
        let complaint = try Self.complaint(Self.text(rules: rules))
        #expect(complaint.contains(Self.section + message), "\(complaint)")
    }

    @Test(arguments: [
        ("priceUpTo: {USD: 1}", "when.priceUpTo is not a key; the keys here are productTypes,"),
        ("productType: [CONSUMABLE]", "when.productType is not a key; did you mean productTypes?"),
        (
            "productTypes: [Consumable]",
            "when.productTypes[0] is Consumable; it must have one or more of AUTO_RENEWABLE,"
        ),
        ("productTypes: CONSUMABLE", "when.productTypes is CONSUMABLE; it must be a list, such as [a, b]"),
        ("productTypes: []", "when.productTypes is empty; it must have one or more of"),
        (
            "consumptionRequestReasons: [BORED]",
            "when.consumptionRequestReasons[0] is BORED; it must have one or more of UNINTENDED_PURCHASE,"
        ),
        (
            "storefronts: [us]",
            "when.storefronts[0] is us; it must have country codes of three capital letters, such as USA"
        ),
        (
            "earlierRefundsAtMost: -1",
            "when.earlierRefundsAtMost is the number -1; it must be a whole number from 0 to 100000"
        ),
        ("daysSincePurchaseAtLeast: 1.5", "when.daysSincePurchaseAtLeast is the number 1.5; it must be a whole number"),
        ("advancedCommerce: 1", "when.advancedCommerce is the number 1; it must be true or false"),
    ])
    func `RP4 a condition has known keys and words`(condition: String, message: String) throws {
        let complaint = try Self.complaint(Self.text(rules: "[{when: {\(condition)}, answer: none}, {answer: none}]"))
        #expect(complaint.contains("\(Self.section).policy[0].\(message)"), "\(complaint)")
    }

    @Test(arguments: ["4.99", "{}", "{usd: 4.99}", "{USD: -1}", "{USD: cheap}", "{USD: 1e10}"])
    func `RP5 a price names its currency`(price: String) throws {
        let complaint = try Self.complaint(
            Self.text(rules: "[{when: {priceAtMost: \(price)}, answer: none}, {answer: none}]")
        )
        #expect(complaint.contains("it must be prices by currency, such as {USD: 4.99, EUR: 4.99}"), "\(complaint)")
        #expect(complaint.contains("\(Self.section).policy[0].when.priceAtMost"), "\(complaint)")
    }

    @Test(arguments: [
        ("yes", " is yes; it must be none, or the values to send, such as \(answer)"),
        ("{deliveryStatus: DELIVERED}", ".sampleContentProvided is missing; it must be true or false"),
        ("{deliveryStatus: LOST, sampleContentProvided: false}", ".deliveryStatus is LOST; it must be DELIVERED,"),
        (
            "{deliveryStatus: DELIVERED, sampleContentProvided: false, customerConsented: true}",
            ".customerConsented is not a key"
        ),
        (
            "{deliveryStatus: UNDELIVERED_OTHER, sampleContentProvided: false, consumptionPercentage: 1}",
            " is not an answer that Apple takes; consumptionPercentage must be 0 for an undelivered purchase"
        ),
        (
            "{deliveryStatus: 0, sampleContentProvided: false, userStatus: 1}",
            " is not an answer that Apple takes; accountTenure is missing; version 1 needs all of its columns"
        ),
    ])
    func `RP6 an answer is checked before any request is read`(answer: String, message: String) throws {
        let complaint = try Self.complaint(Self.text(rules: "[{answer: \(answer)}]"))
        #expect(complaint.contains("\(Self.section).policy[0].answer\(message)"), "\(complaint)")
    }

    @Test(arguments: [
        ("[]", ".policy is empty; it must be a list of rules, such as [{answer: none}]"),
        ("{answer: none}", ".policy is a mapping; it must be a list of rules"),
        ("[none]", ".policy[0] is a text"),
        ("[{}]", ".policy[0].answer is missing; it must be none, or the values to send"),
        ("[{answer: none, remark: stop}]", ".policy[0].remark is not a key; the keys here are when, answer"),
    ])
    func `RP7 a policy is a list of rules with answers`(rules: String, message: String) throws {
        let complaint = try Self.complaint(Self.text(rules: rules))
        #expect(complaint.contains(Self.section + message), "\(complaint)")
    }

    @Test func `RP8 a policy excludes other input, and is allowed only where Apple asks`() throws {
        let input = try Self.complaint(Self.text(more: "input: {csv: {path: a.csv}}\n"))
        #expect(
            input.hasSuffix(
                "input is a mapping; a policy answers the open refund requests of the ledger; remove one of both"
            ),
            "\(input)"
        )
        let other = try Self.complaint(Self.text(action: "finishTransaction"))
        #expect(other.contains("action.finishTransaction.policy is not a key"), "\(other)")
        let withDefault = try Self.complaint(
            Self.text().replacing("    policy:", with: "    refundPreference: DECLINE\n    policy:")
        )
        #expect(
            withDefault.hasSuffix("refundPreference is DECLINE; write it into the answers of the policy"),
            "\(withDefault)"
        )
        let consent = try Self.complaint(
            Self.text(more: "input: {csv: {path: a.csv}}\n").replacing("    policy: [{answer: none}]\n", with: "")
        )
        #expect(
            consent.hasSuffix(
                "customerConsented is true; without a policy, the input has the column customer_consented"
            ),
            "\(consent)"
        )
    }

    @Test func `the first rule that matches decides`() throws {
        let job = try Self.load(
            Self.text(
                rules: """
                    [{when: {productTypes: [CONSUMABLE], priceAtMost: {USD: 4.99}}, answer: none},
                        {when: {earlierRefundsAtLeast: 2, earlierRefundsAtMost: 3}, answer: \(Self.answer)},
                        {when: {daysSincePurchaseAtMost: 14, storefronts: [USA, FRA]}, answer: none},
                        {when: {consumptionRequestReasons: [LEGAL], productIds: [gold]}, answer: none},
                        {when: {daysSincePurchaseAtLeast: 400}, answer: none},
                        {when: {advancedCommerce: true}, answer: none}, {answer: \(Self.answer)}]
                    """
            )
        )
        let policy = try #require(job.policy)
        #expect(policy.consent == .everyCustomer && policy.rules.count == 7)
        func rule(
            type: String? = "Consumable",
            price: Int64? = 10_000,
            currency: String? = "USD",
            refunds: Int64 = 0,
            days: Int64? = 100,
            storefront: String? = "USA",
            reason: String? = nil,
            product: String? = "gold",
            advanced: Bool = false
        ) -> Int {
            policy.rule(
                for: RefundRequest(
                    transactionId: "1",
                    requestedAt: UnixMilliseconds(rawValue: 0),
                    reason: reason,
                    productId: product,
                    type: type,
                    storefront: storefront,
                    priceMilliunits: price,
                    currency: currency,
                    daysSincePurchase: days,
                    earlierRefunds: refunds,
                    hasAdvancedCommerce: advanced
                )
            ) + 1
        }
        #expect(rule(price: 4_990) == 1 && rule(price: 0) == 1)
        // Neither another currency nor an unknown price is known to be low enough.
        #expect(rule(price: 4_991) == 7 && rule(price: 1, currency: "EUR") == 7 && rule(price: nil) == 7)
        #expect(rule(type: "Non-Consumable", price: 1) == 7 && rule(type: nil, price: 1) == 7)
        #expect(rule(refunds: 1) == 7 && rule(refunds: 2) == 2 && rule(refunds: 3) == 2 && rule(refunds: 4) == 7)
        #expect(rule(days: 14) == 3 && rule(days: 14, storefront: "DEU") == 7 && rule(days: nil) == 7)
        #expect(rule(reason: "LEGAL") == 4 && rule(reason: "LEGAL", product: "silver") == 7)
        #expect(rule(days: 400) == 5 && rule(advanced: true) == 6)
    }

    @Test func `a rehearsal knows which answers the plan would sort out`() throws {
        let versionOne = """
            {accountTenure: 0, consumptionStatus: 0, deliveryStatus: 0, lifetimeDollarsPurchased: 0, lifetimeDollarsRefunded: 0, \
            platform: 0, playTime: 0, refundPreference: 0, sampleContentProvided: false, userStatus: 0}
            """
        let percentage = "{deliveryStatus: DELIVERED, sampleContentProvided: false, consumptionPercentage: 50000}"
        func misfit(_ answer: String, type: String?, advanced: Bool = false, ownership: String = "PURCHASED") throws
            -> String?
        {
            let policy = try #require(try Self.load(Self.text(rules: "[{answer: \(answer)}]")).policy)
            return policy.rules[0].answer.misfit(
                RefundRequest(
                    transactionId: "1",
                    requestedAt: UnixMilliseconds(rawValue: 0),
                    type: type,
                    hasAdvancedCommerce: advanced,
                    ownership: ownership
                )
            )
        }
        #expect(try misfit(Self.answer, type: "Consumable") == nil)
        #expect(try misfit(Self.answer, type: nil) == "not_in_ledger")
        #expect(try misfit(Self.answer, type: "Consumable", ownership: "FAMILY_SHARED") == "not_purchased")
        #expect(try misfit(Self.answer, type: "Consumable", advanced: true) == "advanced_commerce")
        #expect(try misfit(versionOne, type: "Consumable", advanced: true) == nil)
        #expect(try misfit(versionOne, type: "Consumable") == "not_advanced_commerce")
        #expect(try misfit(percentage, type: "Consumable") == nil)
        #expect(try misfit(percentage, type: "Auto-Renewable Subscription") == "percentage_of_subscription")
        #expect(try misfit("none", type: nil) == nil)
        let prorated = "{deliveryStatus: DELIVERED, sampleContentProvided: true, refundPreference: GRANT_PRORATED}"
        #expect(try misfit(prorated, type: "Auto-Renewable Subscription") == nil)
        for type in ["Consumable", "Non-Consumable", "Non-Renewing Subscription"] {
            #expect(try misfit(prorated, type: type) == "prorated_without_percentage")
        }
        for type in ["Non-Consumable", "Non-Renewing Subscription"] {
            #expect(try misfit(versionOne, type: type, advanced: true) == "unsupported_type")
        }
        #expect(try misfit(versionOne, type: "Auto-Renewable Subscription", advanced: true) == nil)
    }

    @Test(arguments: [
        (
            "NON_CONSUMABLE, CONSUMABLE",
            "{deliveryStatus: DELIVERED, sampleContentProvided: true, refundPreference: GRANT_PRORATED}",
            "above 0 and below 100000"
        ),
        (
            "AUTO_RENEWABLE", "{deliveryStatus: DELIVERED, sampleContentProvided: true, consumptionPercentage: 5}",
            "remove consumptionPercentage"
        ),
    ])
    func `a policy whose rule has an answer that Apple takes for none of its product types is refused`(
        types: String,
        answer: String,
        words: String
    ) throws {
        func text(_ types: String) -> String {
            Self.text(rules: "[{when: {productTypes: [\(types)]}, answer: \(answer)}, {answer: none}]")
        }
        let complaint = try Self.complaint(text(types))
        #expect(complaint.contains("is an answer that Apple takes for none of the rule's productTypes"), "\(complaint)")
        #expect(complaint.contains(words), "\(complaint)")
        // Apple takes it for one of the types.
        _ = try Self.load(text("AUTO_RENEWABLE, CONSUMABLE"))
    }

    @Test func `conditions and answers are shown in the words of the job file`() throws {
        let job = try Self.load(
            Self.text(
                consent: "{csv: {path: a.csv, column: app_account_token}}",
                rules: """
                    [{when: {productTypes: [CONSUMABLE, AUTO_RENEWABLE], priceAtMost: {USD: 4.99, EUR: 5, TND: 1.125}}, answer: none},
                        {answer: {deliveryStatus: DELIVERED, sampleContentProvided: true, consumptionPercentage: 50000}}]
                    """
            )
        )
        let policy = try #require(job.policy)
        #expect(
            policy.rules[0].condition.text
                == "productTypes CONSUMABLE or AUTO_RENEWABLE, priceAtMost 5.00 EUR or 1.125 TND or 4.99 USD"
        )
        #expect(policy.rules[1].condition.text == "every request" && policy.rules[0].answer.text == "none")
        #expect(
            policy.rules[1].answer.text
                == "deliveryStatus DELIVERED, sampleContentProvided true, consumptionPercentage 50000"
        )
        guard case .listed(.csv(let path, let column)) = policy.consent else { throw Unexpected() }
        #expect(path.hasSuffix("/a.csv") && column == "app_account_token")
    }
}
