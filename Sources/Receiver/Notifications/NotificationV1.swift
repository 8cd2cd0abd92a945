import Hashing
import StrictJSON

/// A notification of version 1, which Apple does not sign.
///
/// It never becomes a record: it only tells which customer to request. Apple's deprecated format, `responseBodyV1`.
struct NotificationV1 {
    let notificationType: String
    /// The app's shared secret, as the sender gave it.
    let password: String?
    let bundleId: String?
    /// `Sandbox`, or `PROD` for Production.
    let environment: String?
    /// The ID of the notification itself, or of the newest purchase in its receipt.
    let originalTransactionId: String?
    /// The members that are kept, as JSON: neither password nor receipts nor IDs of other purchases.
    let redacted: String
    /// SHA-256 of the notification without its password.
    let contentSHA256: [UInt8]

    /// The longest kept value in bytes.
    private static let longestValue = 256
    private static let keptMembers: Set = [
        "notification_type", "environment", "bid", "bvrs", "auto_renew_product_id", "auto_renew_status",
        "auto_renew_status_change_date_ms", "expiration_intent", "cancellation_date_ms",
    ]

    /// `nil` unless the object has a `notification_type`.
    init?(_ object: JSONObject) {
        guard let type = object["notification_type"]?.string, (1...Self.longestValue).contains(type.utf8.count) else {
            return nil
        }
        notificationType = type
        password = object["password"]?.string
        bundleId = object["bid"]?.string
        environment = object["environment"]?.string
        originalTransactionId = Self.newestPurchase(in: object)
        let content = JSONObject(object.members.filter { $0.key != "password" })
        contentSHA256 = SHA256.digest(of: JSONWriter.bytes(.object(content)))
        let kept = object.members.filter { Self.keptMembers.contains($0.key) && Self.isShort($0.value) }
        redacted = JSONWriter.text(.object(JSONObject(kept)))
    }

    private static func isShort(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): text.utf8.count <= longestValue
        case .array, .object: false
        default: true
        }
    }

    /// The original transaction ID of the notification itself, or of the newest purchase in its receipt.
    private static func newestPurchase(in object: JSONObject) -> String? {
        if let own = id(object["original_transaction_id"]) { return own }
        let receipt = object["unified_receipt"]?.object
        let purchases = (receipt?["latest_receipt_info"]?.array ?? []).compactMap(\.object)
        let newest = purchases.max { date(of: $0) < date(of: $1) }
        let renewals = (receipt?["pending_renewal_info"]?.array ?? []).compactMap(\.object)
        return ([newest] + renewals).lazy.compactMap { id($0?["original_transaction_id"]) }.first
    }

    private static func date(of purchase: JSONObject) -> Int64 {
        purchase["purchase_date_ms"]?.string.flatMap(Int64.init) ?? 0
    }

    /// An ID in text or as a number.
    private static func id(_ value: JSONValue?) -> String? {
        guard let text = value?.string ?? value?.number?.text, (1...20).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return text
    }
}
