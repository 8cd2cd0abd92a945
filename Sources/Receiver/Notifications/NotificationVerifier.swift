package import AppStoreModel
import Basics
import Hashing
import Inbox
package import Normalize
package import SignedData

/// Decides whether a body is a notification of the app, without any effect.
package struct NotificationVerifier: Sendable {
    /// The decision about a body.
    enum Verdict: Equatable {
        /// `customer` is that of ``Normalize/VerifiedNotification``; `nil` for version 1.
        case accepted(ReceivedNotification, customer: String? = nil)
        /// `detail` is a sentence for the log; of the body it contains at most the value that broke the rule.
        case refused(RefusedNotification, detail: String)

        /// Whether another reading of the clock could change the decision.
        var dependsOnClock: Bool {
            guard case .refused(let refused, _) = self else { return false }
            return refused.reason == JWSRejection.Reason.future.rawValue
        }
    }

    /// What makes a notification genuine.
    package struct Trust: Sendable {
        package let records: RecordVerifier
        /// Without it every notification of version 1 is refused.
        package let secret: SharedSecret?

        /// - Parameter records: The verifier of signed notifications of the app.
        package init(records: RecordVerifier, secret: SharedSecret?) {
            self.records = records
            self.secret = secret
        }
    }

    let bundleId: String
    let environment: AppStoreEnvironment
    private let trust: @Sendable () -> Trust
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - trust: Asked for each notification.
    ///   - now: The time of the database's clock.
    package init(
        bundleId: String,
        environment: AppStoreEnvironment,
        trust: @escaping @Sendable () -> Trust,
        now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.trust = trust
        self.now = now
    }

    func verdict(on body: NotificationBody) -> Verdict {
        switch body {
        case .version2(let text): verdict(onSigned: text)
        case .version1(let notification): verdict(onUnsigned: notification)
        }
    }

    private func verdict(onSigned text: String) -> Verdict {
        do throws(NotificationRefusal) {
            let verified = try trust().records.notification(text, now: now())
            return .accepted(
                ReceivedNotification(
                    key: verified.notificationUUID,
                    version: 2,
                    type: verified.notificationType,
                    subtype: verified.subtype,
                    signedDate: verified.signedDate,
                    originalTransactionId: verified.originalTransactionId,
                    body: text,
                    bodySHA256: verified.payloadSHA256
                ),
                customer: verified.customer
            )
        } catch {
            let claim = ClaimedNotification(text)
            return .refused(
                .init(
                    version: 2,
                    type: claim.notificationType,
                    originalTransactionId: claim.originalTransactionId,
                    body: text,
                    sha256: SHA256.digest(of: Array(text.utf8)),
                    reason: error.reason
                ),
                detail: error.detail
            )
        }
    }

    private func verdict(onUnsigned notification: NotificationV1) -> Verdict {
        if let (reason, detail) = refusal(of: notification) {
            return .refused(
                .init(
                    version: 1,
                    type: notification.notificationType,
                    originalTransactionId: notification.originalTransactionId,
                    body: notification.redacted,
                    sha256: notification.contentSHA256,
                    reason: reason
                ),
                detail: detail
            )
        }
        return .accepted(
            ReceivedNotification(
                key: "v1-" + notification.contentSHA256.hexadecimal,
                version: 1,
                type: notification.notificationType,
                originalTransactionId: notification.originalTransactionId,
                body: notification.redacted,
                bodySHA256: notification.contentSHA256
            )
        )
    }

    /// Why a notification of version 1 is not accepted; `nil` if it is.
    private func refusal(of notification: NotificationV1) -> (reason: String, detail: String)? {
        guard let secret = trust().secret else {
            return ("no_secret", "A notification of version 1 came, and the job has no receiver.sharedSecretFile.")
        }
        guard let password = notification.password, secret.matches(password) else {
            return ("password", "The password of a notification of version 1 is not the app's shared secret.")
        }
        if let found = notification.bundleId, found != bundleId {
            return ("bundle", "The bid of a notification of version 1 is not the job's bundle ID.")
        }
        let isSandbox = notification.environment?.lowercased() == "sandbox"
        guard isSandbox == (environment == .sandbox) else {
            return ("environment", "A notification of version 1 is of the other environment.")
        }
        return nil
    }
}

extension RefusedNotification {
    /// The longest kept text in bytes.
    private static let longestBody = JWSVerifier.maximumNotificationBytes

    fileprivate init(
        version: Int32,
        type: String?,
        originalTransactionId: String?,
        body: String,
        sha256: [UInt8],
        reason: String
    ) {
        self.init(
            claim: ReceivedNotification(
                key: "refused-" + sha256.hexadecimal,
                version: version,
                type: type,
                originalTransactionId: originalTransactionId,
                body: Self.kept(body),
                bodySHA256: sha256
            ),
            reason: reason
        )
    }

    /// The beginning of a body, cut between two characters.
    private static func kept(_ body: String) -> String {
        let bytes = body.utf8
        guard bytes.count > longestBody else { return body }
        var end = bytes.index(bytes.startIndex, offsetBy: longestBody)
        // In UTF-8, a byte 10xxxxxx continues a character.
        while bytes[end] & 0b1100_0000 == 0b1000_0000 { bytes.formIndex(before: &end) }
        return String(body[..<end])
    }
}
