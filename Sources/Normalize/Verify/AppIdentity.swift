import AppStoreModel
import LedgerSchema
import StrictJSON

/// The app and environment of a job; rejects payloads of any other.
struct AppIdentity: Sendable {
    let bundleId: String
    let environment: AppStoreEnvironment
    /// Checked only in production, where Apple sends it; `nil` skips the check.
    let appAppleId: Int64?

    func requireBundle(_ found: JSONElement?) throws(RecordRejection) {
        guard found?.isText(bundleId) == true else {
            throw RecordRejection(
                .bundle,
                "bundleId is \(ForeignText.description(of: found)); the job's is \"\(bundleId)\"."
            )
        }
    }

    func requireEnvironment(_ found: JSONElement?) throws(RecordRejection) {
        guard found?.isText(environment.rawValue) == true else {
            throw foreignEnvironment(ForeignText.description(of: found))
        }
    }

    private func foreignEnvironment(_ found: String) -> RecordRejection {
        RecordRejection(.environment, "environment is \(found); the job's is \"\(environment.rawValue)\".")
    }

    func requireAppAppleId(_ found: JSONElement?) throws(RecordRejection) {
        guard environment == .production, let appAppleId, found?.int64 != appAppleId else { return }
        throw RecordRejection(
            .appAppleId,
            "appAppleId is \(ForeignText.description(of: found)); the job's is \(appAppleId)."
        )
    }
}

extension AppIdentity {
    /// Rejects a payload of another app or environment.
    func require(_ payload: JSONElement, of kind: RecordKind) throws(RecordRejection) {
        switch kind {
        case .transaction:
            try requireBundle(payload["bundleId"])
            try requireEnvironment(payload["environment"])
        case .renewalInfo:
            // Apple does not include a bundle ID in this payload.
            try requireEnvironment(payload["environment"])
        case .appTransaction:
            try requireBundle(payload["bundleId"])
            try requireEnvironment(payload["receiptType"])
            try requireAppAppleId(payload["appAppleId"])
        case .notification:
            try requireNotification(payload)
        }
    }

    /// Every part of the notification that identifies an app must identify this one.
    private func requireNotification(_ payload: JSONElement) throws(RecordRejection) {
        var isIdentified = false
        for name in ["data", "summary", "externalPurchaseToken", "appData"] {
            guard let part = payload[name], part.isObject else { continue }
            isIdentified = true
            try requireBundle(part["bundleId"])
            if name == "externalPurchaseToken" {
                try requireEnvironment(ofExternalPurchase: part)
            } else {
                try requireEnvironment(part["environment"])
            }
            try requireAppAppleId(part["appAppleId"])
        }
        guard isIdentified || isNamed(inNewerPartOf: payload) else {
            throw RecordRejection(
                .noIdentity,
                "The notification has none of data, summary, externalPurchaseToken and appData."
            )
        }
    }

    /// Whether an object of the payload names this app, under a member name that this version does not know.
    ///
    /// Apple adds parts to notifications. A part with the identity that every known part has must not cost the record.
    private func isNamed(inNewerPartOf payload: JSONElement) -> Bool {
        payload.members.contains { member in
            let part = member.value
            guard part["bundleId"]?.isText(bundleId) == true, part["environment"]?.isText(environment.rawValue) == true
            else { return false }
            return environment != .production || appAppleId == nil || part["appAppleId"]?.int64 == appAppleId
        }
    }

    private func requireEnvironment(ofExternalPurchase token: JSONElement) throws(RecordRejection) {
        let found = Self.environment(ofExternalPurchase: token)
        guard found == environment else {
            throw foreignEnvironment(found.map { "\"\($0.rawValue)\"" } ?? "missing")
        }
    }

    /// The environment of a token, derived from its ID, because the token has no field for it.
    ///
    /// Source: externalPurchaseId, App Store Server Notifications, read 2026-11.
    static func environment(ofExternalPurchase token: JSONElement) -> AppStoreEnvironment? {
        guard let id = token["externalPurchaseId"]?.string else { return nil }
        return id.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production
    }
}
