package import JobSyntax
import StrictJSON

/// Answers to refund requests: the first rule whose condition matches decides.
package struct ConsumptionPolicy: Equatable, Sendable {
    /// Whose consent Apple demands before the app sends consumption information about a customer.
    package enum Consent: Equatable, Sendable {
        /// The job file declares that every customer has consented.
        case everyCustomer
        /// The customers in a file or in the result of a query have consented, and no others.
        case listed(IDList)
    }

    package struct Rule: Equatable, Sendable {
        package let condition: RefundCondition
        package let answer: ConsumptionAnswer

        package init(condition: RefundCondition, answer: ConsumptionAnswer) {
            self.condition = condition
            self.answer = answer
        }
    }

    package let consent: Consent
    /// At least one; the last one has no condition, so every request has a rule.
    package let rules: [Rule]

    package init(consent: Consent, rules: [Rule]) {
        self.consent = consent
        self.rules = rules
    }

    /// The place of the first rule that matches, from 0.
    package func rule(for request: RefundRequest) -> Int {
        rules.firstIndex { $0.condition.matches(request) } ?? rules.count - 1
    }
}

/// The answer of a rule.
package enum ConsumptionAnswer: Equatable, Sendable {
    /// Apple decides without information from the app.
    case none
    /// The values by column, without those that differ between purchases.
    case send([String: ActionValue])

    /// The answer on one line, with the keys of the job file.
    package var text: String {
        guard case .send(let values) = self else { return "none" }
        let parts = SendConsumptionInformation.columns.compactMap { column in
            values[column.name].map { "\(column.key) \($0.cell)" }
        }
        return parts.joined(separator: ", ")
    }

    /// Why the plan would sort the answer out for this purchase; `nil` if Apple takes it.
    ///
    /// The plan checks more: here are the rules that do not depend on the time.
    ///
    /// - Returns: The rule, as in the tables of batches.
    package func misfit(_ request: RefundRequest) -> String? {
        guard case .send(let values) = self else { return nil }
        guard request.type != nil else { return "not_in_ledger" }
        if request.ownership != "PURCHASED" { return "not_purchased" }
        let isVersionOne = SendConsumptionInformation.isVersionOne(values)
        if request.hasAdvancedCommerce, !isVersionOne { return "advanced_commerce" }
        if !request.hasAdvancedCommerce, isVersionOne { return "not_advanced_commerce" }
        return request.type.flatMap { misfit(ofType: $0, values) }
    }

    /// Why Apple takes the answer for no purchase of a type; `nil` if it takes it for some.
    package func misfit(ofType type: String) -> String? {
        guard case .send(let values) = self else { return nil }
        return misfit(ofType: type, values)
    }

    private func misfit(ofType type: String, _ values: [String: ActionValue]) -> String? {
        let isRenewing = type == "Auto-Renewable Subscription"
        let hasPercentage = values["consumption_percentage"] != nil
        if isRenewing, hasPercentage { return LedgerRule.noPercentageOfSubscription.rawValue }
        if !isRenewing, !hasPercentage, values["refund_preference"]?.cell == "GRANT_PRORATED" {
            return LedgerRule.percentageOfProrated.rawValue
        }
        if SendConsumptionInformation.isVersionOne(values), !isRenewing, type != "Consumable" {
            return LedgerRule.typeOfVersionOne.rawValue
        }
        return nil
    }
}

extension ActionValue {
    /// The value as the cell of a file.
    package var cell: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue)"
        case .texts(let texts): texts.joined(separator: " ")
        case .json(let json): JSONWriter.text(json)
        }
    }
}
