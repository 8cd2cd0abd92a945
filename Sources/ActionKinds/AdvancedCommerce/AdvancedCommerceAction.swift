package import AppStoreModel
import StrictJSON

/// One of the calls of the Advanced Commerce API, which have their form in common.
///
/// The body is `requestInfo` and the columns of the action under Apple's names. `requestReferenceId` is the ID of the row, so the
/// signed answer of every later read says whether the request arrived. Source: Advanced Commerce API 1.2, RequestInfo, read 2026-11.
package protocol AdvancedCommerceAction: AppStoreAction {
    /// The part of the path between the API's version and the transaction ID.
    static var path: String { get }

    /// The columns of the body that only this action has, in the order in which their members are sent.
    static var bodyColumns: [ActionColumn] { get }
}

extension AdvancedCommerceAction {
    /// The columns of every action: the path parameter, and what all bodies have.
    private static var commonColumns: [ActionColumn] {
        [
            ActionColumn("transaction_id", .transactionID, isRequired: true),
            ActionColumn("app_account_token", .uuid),
            ActionColumn("storefront", .advancedCommerce(.storefront)),
        ]
    }

    package static var columns: [ActionColumn] { commonColumns + bodyColumns }
    package static var subject: String? { "transaction_id" }
    package static var subjectKind: ActionSubject? { .subscriptionOfTransaction }
    package static var sendsConsistencyToken: Bool { true }

    /// Apple answers 4000097 to a request whose ID it has seen: the first one arrived.
    package static var errorEffects: [AppleErrorCode: ActionErrorEffect] {
        [AppleErrorCode: ActionErrorEffect].ofEveryAction.merging([.repeatedRequestReferenceId: .isRepeated]) { $1 }
    }

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        let info = JSONObject.of([
            ("appAccountToken", row["app_account_token"]?.json),
            ("consistencyToken", row[ActionParameters.consistencyToken]?.json),
            ("requestReferenceId", .string(id)),
        ])
        let members = bodyColumns.map { ($0.key, row[$0.name]?.json) }
        let body = JSONObject.of([("requestInfo", .object(info))] + members + [("storefront", row["storefront"]?.json)])
        return .post(
            "/advancedCommerce/v1/\(path)/\((row.text("transaction_id") ?? "").percentEncoded)",
            body: JSONWriter.bytes(.object(body))
        )
    }

    /// A success has signed records.
    ///
    /// They are not read here: the next crawl brings them.
    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body),
            (answer["signedTransactionInfo"] ?? answer["signedRenewalInfo"])?.string != nil
        else { throw .badPage(reason: "the answer has neither signedTransactionInfo nor signedRenewalInfo") }
        return .succeeded(JSONObject())
    }

    /// A rule that a whole list breaks, in the form of ``AppStoreAction/problem(of:)``.
    static func problem(_ problems: AdvancedCommerceProblem?...) -> (rule: String, reason: String)? {
        problems.compactMap(\.self).first.map { ($0.rule, $0.sentence) }
    }
}
