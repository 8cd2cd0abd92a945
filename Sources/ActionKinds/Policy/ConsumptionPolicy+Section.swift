import AppStoreModel
package import JobSyntax

extension ConsumptionPolicy {
    /// The keys of an action's section that belong to the policy.
    package static let keys = ["customerConsented", "policy"]

    /// Reads the policy of an action's section, and reports its problems.
    package init?(_ section: Section) {
        let expected = "it must be a list of rules, such as [{answer: none}]"
        guard let sections = section.sections("policy", keys: ["when", "answer"], expected) else { return nil }
        let consent = Consent(section)
        let rules = sections.enumerated().compactMap { place, rule in
            Rule(rule, isLast: place == sections.count - 1)
        }
        guard let consent, rules.count == sections.count else { return nil }
        self.init(consent: consent, rules: rules)
    }
}

extension ConsumptionPolicy.Consent {
    /// Consent is never assumed: the job file must name the customers who have consented.
    init?(_ section: Section) {
        let expected = "it must be true if every customer has consented, or name those who have: csv or query"
        guard let scalar = section.scalar("customerConsented") else {
            guard let list = section.section("customerConsented", keys: ["csv", "query"], required: expected) else {
                return nil
            }
            self.init(list: list)
            return
        }
        guard scalar.bool == true else {
            section.report("customerConsented", expected)
            return nil
        }
        self = .everyCustomer
    }

    private init?(list section: Section) {
        guard section.namesOneSource(of: ["csv", "query"]) else { return nil }
        if let csv = section.section("csv", keys: ["path", "column"]) {
            let path = csv.path("path", "it must be the path of a CSV file", isRequired: true)
            let column = csv.text("column", "it must be \(CustomerIDColumn.list)", isRequired: true) {
                CustomerIDColumn(rawValue: $0) != nil
            }
            guard let path, let column else { return nil }
            self = .listed(.csv(path: section.paths.absolute(path), column: column))
        } else if let query = section.query() {
            self = .listed(.query(query))
        } else {
            return nil
        }
    }
}

extension ConsumptionPolicy.Rule {
    private static let remedies = [
        LedgerRule.noPercentageOfSubscription.rawValue: "remove consumptionPercentage",
        LedgerRule.percentageOfProrated.rawValue:
            "GRANT_PRORATED needs a consumptionPercentage, above 0 and below 100000",
        LedgerRule.typeOfVersionOne.rawValue: "version 1 is for consumables and subscriptions that renew",
    ]

    /// Reads a rule; every request reaches the last one that no other matches.
    init?(_ section: Section, isLast: Bool) {
        let when = section.section("when", keys: RefundCondition.keys)
        let condition = when.map(RefundCondition.init) ?? RefundCondition()
        if isLast, section.has("when"), !condition.isEmpty {
            section.problems.report(
                section.place(of: "when"),
                "is a condition of the last rule",
                "add a rule without when after it, such as {answer: none}, for all other requests"
            )
            return nil
        }
        if !isLast, !section.has("when") || when?.isEmpty == true {
            section.problems.report(
                section.place(of: "when"),
                section.has("when") ? "is empty" : "is missing",
                "only the last rule has no condition, because no rule after it could match"
            )
            return nil
        }
        guard let answer = ConsumptionAnswer(section) else { return nil }
        if let types = condition.productTypes,
            let rule = types.compactMap({ answer.misfit(ofType: $0.typeOfTransaction) }).first,
            types.allSatisfy({ answer.misfit(ofType: $0.typeOfTransaction) != nil })
        {
            section.problems.report(
                section.place(of: "answer"),
                "is an answer that Apple takes for none of the rule's productTypes (\(rule))",
                Self.remedies[rule] ?? "correct one of the two"
            )
            return nil
        }
        self.init(condition: condition, answer: answer)
    }
}

extension ConsumptionAnswer {
    /// The columns that a job file can set: not the purchase, its token and the customer's consent.
    private static let columns = SendConsumptionInformation.columns.filter {
        !["transaction_id", "customer_consented", "app_account_token"].contains($0.name)
    }

    init?(_ section: Section) {
        if section.scalar("answer")?.text == "none" {
            self = .none
            return
        }
        let expected =
            "it must be none, or the values to send, such as {deliveryStatus: DELIVERED, sampleContentProvided: false}"
        guard section.scalar("answer") == nil else {
            section.report("answer", expected)
            return nil
        }
        let keys = Self.columns.map(\.key)
        guard let own = section.section("answer", keys: keys, required: expected) else { return nil }
        var isComplete = true
        for column in Self.columns where column.needsValue && !own.has(column.key) {
            own.report(column.key, "it must be \(column.rule)")
            isComplete = false
        }
        let values = own.values(of: Self.columns)
        guard isComplete, values.count == keys.count(where: own.has) else { return nil }
        if let problem = Self.problem(of: values) {
            own.problems.report(own.place, "is not an answer that Apple takes", problem)
            return nil
        }
        self = .send(values)
    }

    /// What Apple refuses in the combination of values, in the words of the job file.
    private static func problem(of values: [String: ActionValue]) -> String? {
        let parameters = ActionParameters(
            [("customer_consented", .boolean(true))]
                + SendConsumptionInformation.columns.compactMap { column in
                    values[column.name].map { (column.name, $0) }
                }
        )
        guard var reason = SendConsumptionInformation.problem(of: parameters)?.reason else { return nil }
        for column in SendConsumptionInformation.columns { reason = reason.replacing(column.name, with: column.key) }
        return reason
    }
}

extension RefundCondition {
    static let keys = [
        "productTypes", "productIds", "consumptionRequestReasons", "storefronts", "priceAtMost", "earlierRefundsAtMost",
        "earlierRefundsAtLeast", "daysSincePurchaseAtMost", "daysSincePurchaseAtLeast", "advancedCommerce",
    ]

    private static let reasons = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ]

    /// Reads a condition; invalid keys are reported.
    init(_ section: Section) {
        self.init()
        let types = HistoryQuery.ProductType.allCases.map(\.rawValue)
        productTypes = section.words("productTypes", of: types)?.compactMap(HistoryQuery.ProductType.init)
        productIds = section.texts("productIds", "it must have product IDs", canBeEmpty: false)
        reasons = section.words("consumptionRequestReasons", of: Self.reasons)
        let code = "it must have country codes of three capital letters, such as USA"
        storefronts = section.texts("storefronts", code, canBeEmpty: false) { Self.isCode($0) }
        priceAtMost = section.prices("priceAtMost")
        earlierRefundsAtMost = section.integer("earlierRefundsAtMost", in: 0...100_000)
        earlierRefundsAtLeast = section.integer("earlierRefundsAtLeast", in: 0...100_000)
        daysSincePurchaseAtMost = section.integer("daysSincePurchaseAtMost", in: 0...36_500)
        daysSincePurchaseAtLeast = section.integer("daysSincePurchaseAtLeast", in: 0...36_500)
        advancedCommerce = section.flag("advancedCommerce")
    }

    /// Three capital letters: a country or a currency.
    fileprivate static func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    }
}

extension Section {
    /// The values of columns by column, as an action's section or answer gives them.
    package func values(of columns: [ActionColumn]) -> [String: ActionValue] {
        var values: [String: ActionValue] = [:]
        for column in columns where has(column.key) {
            do throws(ActionColumn.Problem) {
                values[column.name] = try value(of: column)
            } catch {
                report(column.key, error.reason)
            }
        }
        return values
    }

    private func value(of column: ActionColumn) throws(ActionColumn.Problem) -> ActionValue {
        if case .advancedCommerce(let kind) = column.kind {
            // A list or an object can be written in YAML, or as text with JSON.
            if let json = json(column.key) { return try column.read(json) }
            guard let text = scalar(column.key)?.text else {
                throw ActionColumn.Problem(rule: column.name, reason: "it must be \(kind.rule)")
            }
            return try column.read(text)
        }
        guard let text = scalar(column.key)?.text, let value = column.value(text) else {
            throw ActionColumn.Problem(rule: column.name, reason: "it must be \(column.rule)")
        }
        return value
    }

    /// At least one of a fixed set of words.
    fileprivate func words(_ key: String, of words: [String]) -> [String]? {
        let list = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        return texts(key, "it must have one or more of \(list)", canBeEmpty: false, where: words.contains)
    }

    /// Prices by currency, in thousandths.
    fileprivate func prices(_ key: String) -> [String: Int64]? {
        let expected = "it must be prices by currency, such as {USD: 4.99, EUR: 4.99}"
        guard let entries = entries(of: key, expected) else { return nil }
        var prices: [String: Int64] = [:]
        for entry in entries {
            guard RefundCondition.isCode(entry.key), let price = entry.value.scalar?.number, (0...1e9).contains(price)
            else {
                problems.report(entry.value.place, entry.value.found(), expected)
                continue
            }
            prices[entry.key] = Int64((price * 1_000).rounded())
        }
        return prices
    }
}
