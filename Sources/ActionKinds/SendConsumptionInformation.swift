package import AppStoreModel
import StrictJSON

/// Send Consumption Information: the answer to a refund request, within twelve hours.
///
/// A row with a value in one of the columns of version 1 is sent to version 1, which Apple requires for purchases with Advanced
/// Commerce, and every other row to version 2. Source: Send Consumption Information and its version 1, ConsumptionRequest,
/// ConsumptionRequestV1, read 2026-11.
package enum SendConsumptionInformation: AppStoreAction {
    package static let name = StreamName("sendConsumptionInformation")
    package static let requestsPerSecond = 50.0

    private static let deliveries = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let preferences = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    package static let columns =
        [
            ActionColumn("transaction_id", .transactionID, isRequired: true),
            ActionColumn("customer_consented", .boolean, isRequired: true),
            ActionColumn("delivery_status", .choice(deliveries + (0...5).map { "\($0)" }), isRequired: true),
            ActionColumn("sample_content_provided", .boolean, isRequired: true),
            ActionColumn("consumption_percentage", .integer(0...100_000)),
            ActionColumn("refund_preference", .choice(preferences + (0...3).map { "\($0)" })),
        ] + columnsOfVersionOne
    /// The columns that only version 1 has.
    private static let columnsOfVersionOne = [
        ActionColumn("account_tenure", .integer(0...7)),
        ActionColumn("app_account_token", .uuid),
        ActionColumn("consumption_status", .integer(0...3)),
        ActionColumn("lifetime_dollars_purchased", .integer(0...7)),
        ActionColumn("lifetime_dollars_refunded", .integer(0...7)),
        ActionColumn("platform", .integer(0...2)),
        ActionColumn("play_time", .integer(0...7)),
        ActionColumn("user_status", .integer(0...4)),
    ]
    package static let subject: String? = "transaction_id"
    package static let subjectKind: ActionSubject? = .transaction
    package static let ledgerRules: [LedgerRule] = [
        .inLedger, .notRevoked, .purchased, .openRefundRequest, .consumptionVersion, .noPercentageOfSubscription,
        .percentageOfProrated, .typeOfVersionOne,
    ]
    package static let stake: ActionStake? = .price
    package static let takesPolicy = true

    private static func isVersionOne(_ row: ActionParameters) -> Bool {
        columnsOfVersionOne.contains { row[$0.name] != nil }
    }

    /// Whether values by column are of version 1.
    package static func isVersionOne(_ values: [String: ActionValue]) -> Bool {
        columnsOfVersionOne.contains { values[$0.name] != nil }
    }

    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        guard row.boolean("customer_consented") == true else {
            return ("customer_consented", "customer_consented is false; Apple takes no information without consent")
        }
        return isVersionOne(row) ? problemOfVersionOne(row) : problemOfVersionTwo(row)
    }

    private static func problemOfVersionOne(_ row: ActionParameters) -> (rule: String, reason: String)? {
        // Apple takes an empty token.
        let needed = columnsOfVersionOne.map(\.name).filter { $0 != "app_account_token" } + ["refund_preference"]
        if let missing = needed.first(where: { row[$0] == nil }) {
            return (missing, "\(missing) is missing; version 1 needs all of its columns")
        }
        for (column, range) in [("delivery_status", 0...5), ("refund_preference", 0...3)] {
            guard let number = row.text(column).flatMap(Int.init), range.contains(number) else {
                let rule = "a whole number from \(range.lowerBound) to \(range.upperBound) in version 1"
                return (column, "\(column) is \(row.text(column) ?? ""); it must be \(rule)")
            }
        }
        guard row["consumption_percentage"] == nil else {
            return ("consumption_percentage", "consumption_percentage is not part of version 1")
        }
        return nil
    }

    private static func problemOfVersionTwo(_ row: ActionParameters) -> (rule: String, reason: String)? {
        for (column, words) in [("delivery_status", deliveries), ("refund_preference", preferences)] {
            if let word = row.text(column), !words.contains(word) {
                return (column, "\(column) is \(word); it must be one of \(words.joined(separator: ", ")) in version 2")
            }
        }
        let percentage = row.integer("consumption_percentage")
        if row.text("delivery_status") != "DELIVERED", percentage ?? 0 != 0 {
            return ("consumption_percentage", "consumption_percentage must be 0 for an undelivered purchase")
        }
        if row.text("refund_preference") == "GRANT_PRORATED", let percentage, percentage == 0 || percentage == 100_000 {
            return ("consumption_percentage", "consumption_percentage must be between 0 and 100000 for GRANT_PRORATED")
        }
        return nil
    }

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        let subject = (row.text("transaction_id") ?? "").percentEncoded
        guard isVersionOne(row) else {
            let body = JSONObject.of([
                ("customerConsented", row["customer_consented"]?.json),
                ("deliveryStatus", row["delivery_status"]?.json),
                ("sampleContentProvided", row["sample_content_provided"]?.json),
                ("consumptionPercentage", row["consumption_percentage"]?.json),
                ("refundPreference", row["refund_preference"]?.json),
            ])
            return .put("/inApps/v2/transactions/consumption/\(subject)", body: JSONWriter.bytes(.object(body)))
        }
        func number(_ column: String) -> JSONValue? {
            row.text(column).map { .number(JSONNumber(text: $0)) } ?? row[column]?.json
        }
        let body = JSONObject.of([
            ("accountTenure", number("account_tenure")),
            ("appAccountToken", .string(row.text("app_account_token") ?? "")),
            ("consumptionStatus", number("consumption_status")),
            ("customerConsented", row["customer_consented"]?.json),
            ("deliveryStatus", number("delivery_status")),
            ("lifetimeDollarsPurchased", number("lifetime_dollars_purchased")),
            ("lifetimeDollarsRefunded", number("lifetime_dollars_refunded")),
            ("platform", number("platform")),
            ("playTime", number("play_time")),
            ("refundPreference", number("refund_preference")),
            ("sampleContentProvided", row["sample_content_provided"]?.json),
            ("userStatus", number("user_status")),
        ])
        return .put("/inApps/v1/transactions/consumption/\(subject)", body: JSONWriter.bytes(.object(body)))
    }
}
