package import AppStoreModel
import Hashing
import LedgerSchema
import SignedData
import StrictJSON

/// What a receiver has to know of a notification before it answers.
package struct VerifiedNotification: Sendable, Equatable {
    package let notificationUUID: String
    package let notificationType: String?
    package let subtype: String?
    package let signedDate: UnixMilliseconds
    /// The purchase of the transaction or renewal info inside it; `nil` if it has none.
    ///
    /// The signatures of these records are not verified here. Apple has signed their texts with the notification.
    package let originalTransactionId: String?
    /// ``originalTransactionId``, or the app transaction ID or external purchase ID that it has in place of one.
    package let customer: String?
    package let payloadSHA256: [UInt8]
}

/// Why a notification is not accepted.
package struct NotificationRefusal: Error, Equatable {
    /// A code of a fixed list, as in `rejected_records.reason`.
    package let reason: String
    /// One sentence: the value that was found and what is valid.
    package let detail: String

    package init(reason: String, detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

extension RecordVerifier {
    /// Verifies that Apple has signed a notification of the job's app.
    ///
    /// The records inside it are verified when it is normalised.
    ///
    /// - Parameters:
    ///   - jws: The member `signedPayload`.
    ///   - now: The time of the database's clock.
    /// - Throws: ``NotificationRefusal`` with the first rule that it breaks.
    package func notification(_ jws: String, now: UnixMilliseconds) throws(NotificationRefusal) -> VerifiedNotification
    {
        do throws(RecordRejection) {
            let payload = try payload(of: .text(jws), as: .notification, now: now)
            return VerifiedNotification(
                notificationUUID: try key(of: payload, as: .notification),
                notificationType: payload.json["notificationType"]?.string,
                subtype: payload.json["subtype"]?.string,
                signedDate: payload.signedDate,
                originalTransactionId: ClaimedNotification.originalTransactionId(in: payload.json),
                customer: ClaimedNotification.customer(in: payload.json),
                payloadSHA256: payload.payloadSHA256
            )
        } catch {
            throw NotificationRefusal(reason: error.reason, detail: error.detail)
        }
    }
}

/// What the text of a notification claims, without any check.
package struct ClaimedNotification: Sendable, Equatable {
    /// At most 64 of A-Z, 0-9 and _.
    package let notificationType: String?
    /// At most 20 digits.
    package let originalTransactionId: String?
    /// The bundle ID of the first part that has one.
    package let bundleId: String?

    /// - Parameter jws: A text that may be a JWS.
    package init(_ jws: String) {
        let json = Self.payload(of: jws)
        bundleId = json?.members.lazy.compactMap { $0.value["bundleId"]?.string }.first
        notificationType = json?["notificationType"]?.string.flatMap { text in
            let isName = (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(Self.isOfName)
            return isName ? text : nil
        }
        originalTransactionId = json.flatMap(Self.originalTransactionId)
    }

    /// The original transaction ID of the first record in a payload that has one.
    static func originalTransactionId(in notification: JSONElement) -> String? {
        let data = notification["data"]
        for field in ["signedTransactionInfo", "signedRenewalInfo"] {
            guard let text = data?[field]?.string, let record = payload(of: text),
                let id = record["originalTransactionId"]?.string, (1...20).contains(id.utf8.count),
                id.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { continue }
            return id
        }
        return nil
    }

    /// The app transaction ID, or else the original transaction ID or the external purchase ID.
    static func customer(in notification: JSONElement) -> String? {
        let texts = [
            notification["data"]?["signedTransactionInfo"], notification["data"]?["signedRenewalInfo"],
            notification["appData"]?["signedAppTransactionInfo"],
        ]
        let records = texts.compactMap { $0?.string.flatMap(payload) }
        let ids =
            ["appTransactionId", "originalTransactionId"].flatMap { key in records.map { $0[key]?.string } }
            + [notification["externalPurchaseToken"]?["externalPurchaseId"]?.string]
        return ids.compactMap(\.self).first { (1...64).contains($0.utf8.count) }
    }

    private static func payload(of jws: String) -> JSONElement? {
        guard jws.utf8.count <= JWSVerifier.maximumNotificationBytes else { return nil }
        let segments = jws.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard segments.count == 3, let payload = Base64.decodeURL(Array(segments[1]).span) else { return nil }
        // A text that is not JSON claims nothing.
        return try? StrictJSON.scanObject(payload)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
    }
}
