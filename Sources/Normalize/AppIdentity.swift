import AppStoreModel

/// The app and environment a job is about, and the refusal of everything else.
struct AppIdentity: Sendable {
    let bundleId: String
    let environment: AppStoreEnvironment
    /// Checked in production only, where Apple sends it; `nil` checks nothing.
    let appAppleId: Int64?

    func requireBundle(_ found: JSONValue?) throws(RecordRejection) {
        guard let text = found?.string, text.isByteEqual(to: bundleId) else {
            throw RecordRejection(
                .bundle,
                "bundleId is \(ForeignText.description(of: found)); the job's is \"\(bundleId)\"."
            )
        }
    }

    func requireEnvironment(_ found: JSONValue?) throws(RecordRejection) {
        guard let text = found?.string, text.isByteEqual(to: environment.rawValue) else {
            throw RecordRejection(
                .environment,
                "environment is \(ForeignText.description(of: found)); the job's is \"\(environment.rawValue)\"."
            )
        }
    }

    func requireAppAppleId(_ found: JSONValue?) throws(RecordRejection) {
        guard environment == .production, let appAppleId, found?.number?.int64 != appAppleId else { return }
        throw RecordRejection(
            .appAppleId,
            "appAppleId is \(ForeignText.description(of: found)); the job's is \(appAppleId)."
        )
    }
}

extension AppIdentity {
    /// Refuses a payload of another app or environment.
    func require(_ payload: JSONObject, of kind: RecordKind) throws(RecordRejection) {
        switch kind {
        case .transaction:
            try requireBundle(payload["bundleId"])
            try requireEnvironment(payload["environment"])
        case .renewalInfo:
            // Apple signs no bundle ID with it.
            try requireEnvironment(payload["environment"])
        case .appTransaction:
            try requireBundle(payload["bundleId"])
            try requireEnvironment(payload["receiptType"])
            try requireAppAppleId(payload["appAppleId"])
        case .notification:
            try requireNotification(payload)
        }
    }

    /// Every part that names an app has to name this one.
    private func requireNotification(_ payload: JSONObject) throws(RecordRejection) {
        var isIdentified = false
        for name in ["data", "summary", "externalPurchaseToken", "appData"] {
            guard let part = payload[name]?.object else { continue }
            isIdentified = true
            try requireBundle(part["bundleId"])
            let environment =
                name == "externalPurchaseToken" ? Self.environment(ofExternalPurchase: part) : part["environment"]
            try requireEnvironment(environment)
            try requireAppAppleId(part["appAppleId"])
        }
        guard isIdentified else {
            throw RecordRejection(
                .noIdentity,
                "The notification has none of data, summary, externalPurchaseToken and appData."
            )
        }
    }

    /// The token does not say its environment; its ID does.
    ///
    /// Source: externalPurchaseId, App Store Server Notifications, read 2026-11.
    static func environment(ofExternalPurchase token: JSONObject) -> JSONValue? {
        guard let id = token["externalPurchaseId"]?.string else { return nil }
        let environment: AppStoreEnvironment = id.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production
        return .string(environment.rawValue)
    }
}
