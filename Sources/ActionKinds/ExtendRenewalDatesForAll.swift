package import AppStoreModel
package import StrictJSON

/// Extend Subscription Renewal Dates for All Active Subscribers: gives all subscribers of a product free days.
///
/// Apple works on a request for hours to days, so the row is confirming until Apple says that it is complete. Source: Extend
/// Subscription Renewal Dates for All Active Subscribers, MassExtendRenewalDateRequest, Get Status of Subscription Renewal Date
/// Extensions, read 2026-11.
package enum ExtendRenewalDatesForAll: AppStoreAction {
    package static let name = StreamName("extendRenewalDatesForAll")
    package static let requestsPerSecond = 1.0

    package static let columns = [
        ActionColumn("product_id", .productID, isRequired: true),
        ActionColumn("extend_by_days", .integer(1...90), needsValue: true),
        // Apple answers 500 to a request without a reason code.
        ActionColumn("extend_reason_code", .integer(0...3), needsValue: true),
        ActionColumn("storefront_country_codes", .countryCodes),
    ]
    package static let subject: String? = "product_id"
    package static let subjectKind: ActionSubject? = .product
    package static let ledgerRules: [LedgerRule] = [.inLedger, .subscription]

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        let body = JSONObject.of([
            ("extendByDays", row["extend_by_days"]?.json),
            ("extendReasonCode", row["extend_reason_code"]?.json),
            ("requestIdentifier", .string(id)),
            ("productId", row["product_id"]?.json),
            // Without the member, Apple extends in every storefront.
            ("storefrontCountryCodes", row["storefront_country_codes"]?.json),
        ])
        return .post("/inApps/v1/subscriptions/extend/mass", body: JSONWriter.bytes(.object(body)))
    }

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body), let id = answer["requestIdentifier"]?.string else {
            throw .badPage(reason: "the answer has no requestIdentifier")
        }
        return .succeeded(.of([("requestIdentifier", .string(id))]))
    }

    /// Apple documents no limit for the status.
    package static let followUp: ActionFollowUp? = ActionFollowUp(
        endpoint: StreamName("massExtensionStatus"),
        requestsPerSecond: 1,
        remedy: "Crawl the app's notifications and run again: Apple's SUMMARY notification tells the outcome too"
    )

    package static func followUpRequest(_ row: ActionParameters, answer: JSONObject) -> AppStoreRequest? {
        guard let id = answer["requestIdentifier"]?.string, let product = row.text("product_id") else { return nil }
        return .get("/inApps/v1/subscriptions/extend/mass/\(product.percentEncoded)/\(id.percentEncoded)")
    }

    package static func progress(_ body: [UInt8]) throws(RequestFailure) -> JSONObject? {
        guard let answer = try? StrictJSON.parseObject(body), let isComplete = answer["complete"]?.bool else {
            throw .badPage(reason: "the answer has no complete; it must be true or false")
        }
        guard isComplete else { return nil }
        return .of([
            ("completeDate", answer["completeDate"]), ("succeededCount", answer["succeededCount"]),
            ("failedCount", answer["failedCount"]),
        ])
    }
}
