import AppStoreModel
import JobSyntax
package import StrictJSON

extension ConsumptionPolicy {
    /// The policy as JSON; the same policy always gives the same bytes.
    ///
    /// It has the rules and where the consents come from, but not which customers have consented: that changes every day.
    package var json: JSONObject {
        .of([
            ("customerConsented", consent.json),
            ("policy", .array(rules.map { .object(.of([("when", $0.condition.json), ("answer", $0.answer.json)])) })),
        ])
    }
}

extension ConsumptionPolicy.Consent {
    fileprivate var json: JSONValue {
        switch self {
        case .everyCustomer: .bool(true)
        case .listed(.csv(let path, let column)):
            .object(.of([("csv", .string(path)), ("column", column.map(JSONValue.string))]))
        case .listed(.query(let sql)): .object(.of([("query", .string(sql))]))
        case .listed(.list(let ids)): .array(ids.map(JSONValue.string))
        }
    }
}

extension ConsumptionAnswer {
    fileprivate var json: JSONValue {
        guard case .send(let values) = self else { return .string("none") }
        return .object(.of(SendConsumptionInformation.columns.map { ($0.name, values[$0.name]?.json) }))
    }
}

extension RefundCondition {
    /// Without the keys that the condition does not have.
    fileprivate var json: JSONValue {
        func texts(_ values: [String]?) -> JSONValue? { values.map { .array($0.map(JSONValue.string)) } }
        func number(_ value: Int64?) -> JSONValue? { value.map { ActionValue.integer($0).json } }
        let prices = priceAtMost.map { prices in
            JSONValue.object(.of(prices.sorted { $0.key < $1.key }.map { ($0.key, number($0.value)) }))
        }
        return .object(
            .of([
                ("productTypes", texts(productTypes?.map(\.rawValue))), ("productIds", texts(productIds)),
                ("consumptionRequestReasons", texts(reasons)), ("storefronts", texts(storefronts)),
                ("priceAtMost", prices), ("earlierRefundsAtMost", number(earlierRefundsAtMost)),
                ("earlierRefundsAtLeast", number(earlierRefundsAtLeast)),
                ("daysSincePurchaseAtMost", number(daysSincePurchaseAtMost)),
                ("daysSincePurchaseAtLeast", number(daysSincePurchaseAtLeast)),
                ("advancedCommerce", advancedCommerce.map(JSONValue.bool)),
            ])
        )
    }
}
