import AppStoreModel
import Basics

/// A request of the Advanced Commerce API, with what all of them have in their bodies.
///
/// Source: RequestInfo, read 2026-11.
struct AdvancedCommerceCall: Sendable {
    let transactionId: TransactionID
    /// A UUID in lower case.
    let requestReferenceId: String
    let consistencyToken: String?
    let storefront: String?
    let body: RequestBody
    /// When it arrived, in milliseconds since 1970.
    let arrival: Int64

    /// - `members`: The members of the body in addition to `requestInfo` and `storefront`.
    ///
    /// Throws the error of the first member that is missing or not valid.
    init(_ request: ActionRequest, members: Set<String>) throws(APIError) {
        transactionId = try request.transactionId()
        arrival = request.date
        do throws(APIError) {
            body = try RequestBody(request.body, members: members.union(["requestInfo", "storefront"]))
        } catch {
            throw .malformedPayload
        }
        let infoMembers: Set = ["requestReferenceId", "appAccountToken", "consistencyToken"]
        guard let info = try body.body("requestInfo", members: infoMembers, or: .malformedPayload) else {
            throw .nullRequestInfo
        }
        guard info.has("requestReferenceId") else { throw .nullRequestReferenceID }
        let id = try info.text("requestReferenceId", or: .invalidRequestReferenceID)
        guard let bytes = UUIDText.bytes(of: id) else { throw .invalidRequestReferenceID }
        requestReferenceId = UUIDText.text(of: bytes)
        if info.has("appAccountToken") {
            let token = try info.text("appAccountToken", or: .appAccountToken)
            guard token.isEmpty || UUIDText.bytes(of: token) != nil else { throw .appAccountToken }
        }
        consistencyToken =
            info.has("consistencyToken") ? try info.text("consistencyToken", or: .invalidConsistencyToken) : nil
        storefront = try body.code("storefront", or: .invalidStorefront)
    }
}

extension RequestBody {
    /// Three capital letters; `nil` when the member is missing.
    func code(_ key: String, or error: APIError) throws(APIError) -> String? {
        guard has(key) else { return nil }
        let code = try text(key, or: error)
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else { throw error }
        return code
    }

    /// Text of 1 to `limit` characters.
    ///
    /// Throws `missing`, `invalid` for an empty one, or `tooLong`.
    func text(
        _ key: String,
        atMost limit: Int,
        missing: APIError,
        invalid: APIError,
        tooLong: APIError
    ) throws(APIError) -> String {
        guard has(key) else { throw missing }
        let text = try text(key, or: invalid)
        guard !text.isEmpty else { throw invalid }
        guard text.count <= limit else { throw tooLong }
        return text
    }

    func sku(_ key: String = "SKU", missing: APIError = .nullSKU) throws(APIError) -> String {
        try text(key, atMost: 128, missing: missing, invalid: .invalidSKU, tooLong: .skuLengthExceeded)
    }

    func displayName() throws(APIError) -> String {
        try text(
            "displayName",
            atMost: 30,
            missing: .nullDisplayName,
            invalid: .invalidDisplayName,
            tooLong: .displayNameLengthExceeded
        )
    }

    func description() throws(APIError) -> String {
        try text(
            "description",
            atMost: 45,
            missing: .nullDescription,
            invalid: .invalidDescription,
            tooLong: .descriptionLengthExceeded
        )
    }

    func taxCode() throws(APIError) -> String {
        try text("taxCode", atMost: 128, missing: .nullTaxCode, invalid: .invalidTaxCode, tooLong: .invalidTaxCode)
    }

    /// The refund reason of an item or of a subscription.
    func refundReason(in app: SimulatedApp) throws(APIError) -> String {
        guard has("refundReason") else { throw .nullRefundReason }
        let reason = try text("refundReason", or: .invalidRefundReason)
        guard Self.refundReasons.contains(reason) else { throw .invalidRefundReason }
        guard reason != Self.simulatedDecline || app.environment == .sandbox else {
            throw .simulatedDeclineOnlyInSandbox
        }
        return reason
    }

    /// - `allowed`: `FULL`, `PRORATED` and, for an item, `CUSTOM`.
    func refundType(_ allowed: Set<String>) throws(APIError) -> String {
        guard has("refundType") else { throw .nullRefundType }
        let type = try text("refundType", or: .invalidRefundType)
        guard allowed.contains(type) else { throw .invalidRefundType }
        return type
    }

    /// The refund reason for which Apple declines a refund.
    static let simulatedDecline = "SIMULATE_REFUND_DECLINE"

    private static let refundReasons: Set = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
        "MODIFY_ITEMS_REFUND", simulatedDecline,
    ]
}
