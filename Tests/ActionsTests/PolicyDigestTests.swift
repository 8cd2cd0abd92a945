import Testing

@testable import Actions

/// The hash that an approval of a policy names.
struct PolicyDigestTests {
    private static let rules = [
        "{when: {productTypes: [CONSUMABLE], productIds: [gems], consumptionRequestReasons: [OTHER], storefronts: [USA]}, answer: none}",
        "{when: {priceAtMost: {USD: 4.99, EUR: 3}, earlierRefundsAtMost: 1, daysSincePurchaseAtLeast: 2}, answer: none}",
        "{answer: {deliveryStatus: DELIVERED, sampleContentProvided: false}}",
    ]

    private func hash(_ rules: [String] = Self.rules, consent: String = "true", name: String = "answers") throws
        -> String
    {
        let action =
            "sendConsumptionInformation: {customerConsented: \(consent), policy: [\(rules.joined(separator: ", "))]}"
        return try #require(try TestJob.of(action, name: name, input: nil).policySHA256)
    }

    @Test func `every rule, value, their order, the source of the consents and the job change the hash of a policy`()
        throws
    {
        let found = try hash()
        #expect(found.count == 64)
        func changed(_ rule: Int, _ old: String, _ new: String) throws -> String {
            var rules = Self.rules
            #expect(rules[rule].contains(old))
            rules[rule] = rules[rule].replacing(old, with: new)
            return try hash(rules)
        }
        let others = [
            try changed(0, "CONSUMABLE", "NON_CONSUMABLE"), try changed(0, "gems", "coins"),
            try changed(0, "OTHER", "LEGAL"), try changed(0, "USA", "CAN"), try changed(0, ", storefronts: [USA]", ""),
            try changed(1, "4.99", "5.99"), try changed(1, "EUR", "GBP"), try changed(1, "AtMost: 1", "AtMost: 2"),
            try changed(1, "AtLeast: 2", "AtLeast: 3"),
            try changed(1, "daysSincePurchaseAtLeast", "earlierRefundsAtLeast"),
            try changed(2, "false", "true"), try changed(2, "false}", "false, refundPreference: DECLINE}"),
            try hash([Self.rules[1], Self.rules[0], Self.rules[2]]), try hash([Self.rules[2]]),
            try hash(consent: "{query: SELECT transaction_id FROM consents}"),
            try hash(consent: "{csv: {path: a.csv, column: transaction_id}}"),
            try hash(consent: "{csv: {path: b.csv, column: transaction_id}}"), try hash(name: "others"),
        ]
        #expect(Set(others + [found]).count == others.count + 1)
    }

    @Test func `the order of currencies and the way of writing do not change the hash of a policy`() throws {
        var rules = Self.rules
        rules[1] = rules[1].replacing("{USD: 4.99, EUR: 3}", with: "{EUR: 3.000,   USD: 4.990}")
        #expect(try hash(rules) == hash())
    }

    @Test func `a job without a policy has no hash`() throws {
        #expect(try TestJob.of().policySHA256 == nil)
    }
}
